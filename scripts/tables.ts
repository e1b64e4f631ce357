import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type ShopRight, rights, roleSentences } from '../src/accounts/rights.ts';
import { acts } from '../src/acts.ts';
import { listCommands } from '../src/commands/main.ts';
import { cohortFigures } from '../src/metrics/cohorts.ts';
import { dayFigures, summaryFigures } from '../src/metrics/figures.ts';
import { lineNames, movementLines } from '../src/metrics/movements.ts';
import { operations } from '../src/operations/index.ts';
import { toJsonSchema } from '../src/operations/json-schema.ts';
import { ownerPages } from '../src/owner/routes.ts';
import { type PageInfo, type Right, isOfShop } from '../src/owner/site.ts';
import { records, recordTypes } from '../src/records/records.ts';
import { type Table, limitTable, renderTable } from '../src/reference/introduction.ts';
import { type DocumentedMetric, metricDefinitions } from '../src/telemetry/definitions.ts';
import { roles } from '../src/vocabulary.ts';
import { writeFields } from './record-tables.ts';

const holders: Readonly<Record<Right, string>> = {
  anyone: 'anyone',
  account: 'who is signed in',
  ...(Object.fromEntries(
    Object.entries(rights).map(([right, of]) => [right, of.join(', ')]),
  ) as Record<ShopRight, string>),
};

// What the pages are is the same for all services.
const none = { accounts: {}, store: {}, uploads: {}, platforms: { platforms: {} } };
const pages = ownerPages(none as never);
const commands = await listCommands();

/** What documents have from the program, by the name in the comment above it. */
const tables: Readonly<Record<string, () => Table>> = {
  Alerts: () => ({
    head: ['Alert', 'Fires', 'What to do'],
    rows: readAlerts().map(({ alert, expr, for: duration, labels, annotations }) => {
      const [condition] = /(?:[=<>]=|[<>]) \S+$|absent\(\w+\)/.exec(expr) ?? [];
      const fires = `\`${condition}\` for ${duration}, ${labels.severity}`;
      return [`\`${alert}\``, fires, annotations.runbook];
    }),
  }),
  Acts: () => ({
    head: ['Act', 'Somebody …'],
    rows: Object.entries(acts).map(([name, words]) => [code(name), words.replace('{target}', '…')]),
  }),
  Limits: () => limitTable,
  Roles: () => ({
    head: ['Role', 'What its members do'],
    rows: roles.map((role) => [role, roleSentences[role]]),
  }),
  Pages: () => ({
    head: ['Below `/app`', 'Opens for', 'Its form for', 'Recent proof', 'Entries'],
    rows: pages.map((page) => {
      const { right, submitRight = right, stepUp, acts: entries = [], submit, receive } = page;
      const form = (submit ?? receive) ? holders[submitRight] : '';
      const opens = page.show ? holders[right] : '';
      return [code(addressOf(page)), opens, form, stepUp ?? '', entries.map(code).join(', ')];
    }),
  }),
  Commands: () => ({
    head: ['Command', 'Entries'],
    rows: commands.map(({ name, acts: entries }) => [code(name), entries.map(code).join(', ')]),
  }),
  Metrics: () => ({
    head: ['Metric', 'Labels', 'What its values mean'],
    rows: Object.entries<DocumentedMetric>(metricDefinitions).flatMap(([name, { labels, watch }]) =>
      watch ? [[code(name), labels.map(code).join(', '), watch]] : [],
    ),
  }),
  Tools: () => ({
    head: ['Tool', 'Scope', 'Arguments', 'REST'],
    rows: operations.map(({ tool, scope, path, input }) => [
      code(tool),
      code(scope),
      Object.keys(toJsonSchema(input, 'input').properties ?? {})
        .map(code)
        .join(', '),
      code(`GET /v1${path}`),
    ]),
  }),
  Figures: () => figureTable(summaryFigures.map(({ field, rule }) => [field, rule])),
  'Figures of a day': () => figureTable(Object.entries(dayFigures)),
  Movements: () => figureTable(lineNames.map((name) => [name, movementLines[name].definition])),
  Cohorts: () => figureTable(Object.entries(cohortFigures)),
  ...Object.fromEntries(
    recordTypes.map((type) => [`Fields of ${type}`, () => writeFields(records[type])]),
  ),
};

const addressOf = (page: PageInfo) =>
  isOfShop(page) ? `/shops/:shopId${page.path}` : page.path.replace(/^\/app/, '') || '/';

/** The documents with tables that are written here. */
export const pagesWithTables = [
  'docs/guides/limits.md',
  'docs/import.md',
  'docs/mcp.md',
  'docs/metrics.md',
  'docs/operations.md',
  'docs/security.md',
];

/** A page with its generated tables, each below a comment that names it. */
export function writeTables(page: string): string {
  return page.replaceAll(
    /(<!-- ([\w ]+): written by .*-->\n)\n(?:\|.*\n)*\n*/g,
    (_, comment, name) => {
      const table = tables[name];
      if (!table) throw new Error(`There is no table ${name}.`);
      return `${comment}\n${renderTable(table())}\n\n`;
    },
  );
}

const code = (text: string) => `\`${text}\``;

function figureTable(figures: readonly (readonly [name: string, counts: string])[]): Table {
  return {
    head: ['Figure', 'Counts'],
    rows: figures.map(([name, counts]) => [code(name), counts]),
  };
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook: string };
}

function readAlerts(): readonly Alert[] {
  const file = new URL('../deploy/prometheus-alerts.yaml', import.meta.url);
  return parse(readFileSync(file, 'utf8')).groups[0].rules;
}
