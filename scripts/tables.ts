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
import { roles } from '../src/vocabulary.ts';
import { writeFields } from './record-fields.ts';

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

/** What documents have from the program, by the name in the comment above it: a table, or entries of a list. */
const tables: Readonly<Record<string, () => Table | readonly string[]>> = {
  Acts: () => {
    const byCommand = commands.filter((command) => command.acts.length > 0);
    const known = new Set<string>([...pages, ...byCommand].flatMap((each) => each.acts ?? []));
    const others = Object.keys(acts).filter((act) => !known.has(act));
    return [
      `by commands: ${byCommand.map((each) => withEntries(each.name, each.acts)).join(', ')}`,
      `by the service: ${others.map(code).join(', ')}`,
      'by pages: [those of each page](#who-may-do-what)',
    ];
  },
  Limits: () => limitTable,
  Roles: () => roles.map((role) => `**${role}**: ${roleSentences[role]}`),
  Pages: () =>
    Object.entries(Object.groupBy(pages, accessTo))
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([access, group = []]) => `**${access}**: ${writePages(group)}`),
  Tools: () =>
    operations.map(({ tool, scope, path, input }) => {
      const names = Object.keys(toJsonSchema(input, 'input').properties ?? {});
      const given = names.length > 0 ? `, with ${names.map(code).join(', ')}` : '';
      return `${code(tool)} (${code(scope)}): ${code(`/v1${path}`)}${given}`;
    }),
  Figures: () => summaryFigures.map(({ field, rule }) => `${code(field)}: ${rule}`),
  'Figures of a day': () => listed(dayFigures),
  Movements: () => lineNames.map((name) => `${code(name)}: ${movementLines[name].definition}`),
  Cohorts: () => listed(cohortFigures),
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
  'docs/security.md',
];

/** A page with its generated tables, each below a comment that names it. */
export function writeTables(page: string): string {
  return page.replaceAll(
    /(<!-- ([\w ]+): written by .*-->\n)\n(?:(?:\|| {2}|- ).*\n)*\n*/g,
    (_, comment, name) => {
      const table = tables[name]?.();
      if (!table) throw new Error(`There is no table ${name}.`);
      const text =
        'rows' in table ? renderTable(table) : table.map((entry) => `- ${entry}`).join('\n');
      return `${comment}\n${text}\n\n`;
    },
  );
}

/** To whom a page and its form are open, and what of it asks for a recent proof. */
function accessTo(page: (typeof pages)[number]): string {
  const { right, submitRight = right, stepUp, submit, receive, show } = page;
  const form = (submit ?? receive) ? holders[submitRight] : undefined;
  const parts =
    show && form === holders[right]
      ? [`page and form for ${form}`]
      : [show && `page for ${holders[right]}`, form && `form for ${form}`];
  return [...parts, stepUp && `proof (${stepUp})`].filter((part) => part).join(', ');
}

/** Addresses, and behind those with the same entries of the audit log what these are. */
function writePages(group: readonly PageInfo[]): string {
  return Object.entries(
    Object.groupBy(group, ({ acts: written = [] }) => written.map(code).join(', ')),
  )
    .map(([entries, same = []]) => {
      // Of each list and chart there is one, beside its page.
      const areFiles = same.length > 2 && same.every(({ path }) => path.endsWith('.csv'));
      const addresses = areFiles
        ? `the ${same.length} addresses that end in ${code('.csv')}`
        : same.map((page) => code(addressOf(page))).join(', ');
      return addresses + (entries && ` (${same.length > 1 ? 'each ' : ''}${entries})`);
    })
    .join('; ');
}

const withEntries = (name: string, entries: readonly string[] = []) =>
  code(name) + (entries.length > 0 ? ` (${entries.map(code).join(', ')})` : '');

const code = (text: string) => `\`${text}\``;

const listed = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([name, text]) => `${code(name)}: ${text}`);
