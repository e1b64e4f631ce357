import { CommandError } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { parseMapping, withoutComments } from '../../mapping/read.ts';
import { type Answers, noAnswers } from '../../mapping/suggest/answers.ts';
import { checkMark, writeDocument } from '../../mapping/suggest/document.ts';
import { isNamed, wordsOf } from '../../mapping/suggest/names.ts';
import type { Lack } from '../../mapping/suggest/roles.ts';
import {
  type SuggestOptions,
  type Suggestion,
  suggestMapping,
} from '../../mapping/suggest/suggest.ts';
import { PlatformError } from '../errors.ts';
import type { Source } from '../postgres/connection.ts';
import { checkColumns } from '../postgres/read.ts';
import { type Stream, type StreamSpec, openStreams } from '../postgres/streams.ts';
import {
  type JoinedColumn,
  findChanged,
  findColumns,
  findLines,
  lineId,
  linesOf,
  planQueryOf,
  queryOf,
} from './joins.ts';
import { type SourceTable, identifier, listPresetTitles } from './presets.ts';

export type RowContext = Pick<SuggestOptions, 'clock' | 'currency'>;

/** What is read of tables that no known maker has made. */
const kinds = ['subscription', 'payment', 'refund'] as const;
/** How many tables are looked at, and how many of their rows. Each takes up to a second. */
const [maxTables, maxRows] = [20, 500];

/** What a table is called: an invoice is a payment, once it was paid. */
function namedKind({ name }: SourceTable) {
  const words = wordsOf(name);
  const kind = kinds.find((each) => isNamed(words, each));
  return kind ?? (isNamed(words, 'invoice') ? 'payment' : undefined);
}

const ofBilling =
  /subscri|\bplan|price|interval|trial|status|state|period|cancel|renew|expires|amount|currency|paid|charge/;

/** Tables that are called like something to import come first; "subscription_items" are parts of it. */
function rankOf({ name }: SourceTable): number {
  const words = wordsOf(name);
  const rank = [...kinds, 'invoice' as const].findIndex((kind) => isNamed(words, kind));
  const isPart = /(?:items?|lines?|plans?|prices?|costs?|events?|logs?|histor\w+|usages?)$/.test(
    words,
  );
  return rank === -1 ? 9 : rank * 2 + Number(isPart);
}

const billingColumns = ({ columns }: SourceTable) =>
  columns.filter((column) => ofBilling.test(wordsOf(column))).length;

export async function suggestByRows(
  source: Source,
  tables: readonly SourceTable[],
  context: RowContext,
) {
  const looked = tables
    .toSorted((a, b) => rankOf(a) - rankOf(b) || billingColumns(b) - billingColumns(a))
    .slice(0, maxTables);
  const candidates: Candidate[] = [];
  const notes: string[] = [];
  for (const table of looked) {
    // A view may fail.
    await source.query({ text: 'savepoint looked' });
    const found = await lookAt(source, table, tables, context).catch(async (error: unknown) => {
      if (!(error instanceof PlatformError)) throw error;
      await source.query({ text: 'rollback to savepoint looked' });
      return error.message;
    });
    if (typeof found === 'string') notes.push(found);
    else if (found) candidates.push(found);
  }
  const chosen = Map.groupBy(candidates, ({ stream }) => stream)
    .values()
    .flatMap((each) => each.toSorted((a, b) => a.rank - b.rank).slice(0, 1))
    .toArray();
  if (!chosen.some(({ isEnough }) => isEnough)) {
    throw nothingFound(tables, looked, await listPresetTitles());
  }
  const texts = chosen.flatMap((each) => each.texts);
  return {
    text: `[\n${texts.map((each) => each.replaceAll(/^/gm, '  ')).join(',\n')}\n]`,
    notes: [
      ...candidates.flatMap((candidate) =>
        chosen.includes(candidate)
          ? candidate.checks.map((check) => `${candidate.table}: ${check}.`)
          : [`${candidate.table} looks like ${candidate.stream}, too, and is left out.`],
      ),
      ...notes,
      ...(tables.length > looked.length
        ? [
            `Only ${looked.length} of ${tables.length} tables were looked at, those most like billing.`,
          ]
        : []),
    ],
  };
}

interface Candidate {
  readonly table: string;
  readonly stream: string;
  /** Whether it has subscriptions, without which there is nothing to follow. */
  readonly isEnough: boolean;
  /** The lowest is the likeliest. */
  readonly rank: number;
  /** Its stream, and perhaps that of its plans. */
  readonly texts: readonly string[];
  readonly checks: readonly string[];
}

/** Rows, perhaps with columns of other tables, and what was made of them. */
interface Reading {
  readonly columns: readonly JoinedColumn[];
  readonly suggestion: Suggestion;
  readonly isUsable: boolean;
}

function isUsable({ known, kind, preview }: Suggestion): boolean {
  if ('problem' in preview) return false;
  const made = Object.values(preview.counts).reduce((sum, count) => sum + count, 0);
  return (known !== undefined || kinds.some((each) => each === kind)) && made > preview.refusedRows;
}

/** The column that the lines of a row have in common; undefined if each row is read once. */
const groupOf = ([first]: readonly JoinedColumn[]) =>
  first?.join.key === undefined ? first?.join.column : undefined;

/** Reads the first rows of a table. @returns undefined if it has none, or they are nothing to read */
async function readFirst(
  source: Source,
  table: SourceTable,
  columns: readonly JoinedColumn[],
  context: RowContext,
): Promise<Reading | undefined> {
  const by = groupOf(columns);
  const one = by === undefined ? '' : `distinct on (${identifier(by)}) `;
  const text = `select row_to_json(q)::text as row from (select ${one}* from (${queryOf(table, columns)}) r limit ${maxRows}) q`;
  const { rows } = await source.query<{ row: string }>({ text }, table.name);
  if (rows.length === 0) return undefined;
  const bytes = Buffer.from(rows.map(({ row }) => row).join('\n'));
  const head = { bytes, isWhole: rows.length < maxRows };
  const optional = table.columns.filter((each) => !table.filled.includes(each));
  const relations = {
    mayBeEmpty: new Set([...optional, ...columns.map(({ name }) => name)]),
    joined: new Map(columns.flatMap(({ name, join: { key } }) => (key ? [[name, key]] : []))),
    group: by === undefined ? undefined : { by, line: lineId },
  };
  const suggest = async (answers: Answers): Promise<Reading | undefined> => {
    const options = { ...context, relations, answers };
    const found = await suggestMapping(nameOf(table), head, options).catch((error: unknown) => {
      if (error instanceof CommandError) return undefined;
      throw error;
    });
    return found && { columns, suggestion: found, isUsable: isUsable(found) };
  };
  const found = await suggest(noAnswers);
  const named = namedKind(table);
  if (found?.isUsable || named === undefined) return found;
  return (await suggest(new Map([['kind', named]]))) ?? found;
}

const nameOf = ({ schema, name }: SourceTable) => `${schema}.${name}`;

/** What other tables may have of a table's rows. */
function lacksOf(table: SourceTable, { suggestion, isUsable: isFound }: Reading): readonly Lack[] {
  const { known, kind, lacks } = suggestion;
  const named = namedKind(table);
  if (known !== undefined) return [];
  if (kind === 'subscription' || (!isFound && named === undefined)) return lacks;
  return !isFound && named === 'payment' ? ['subscription'] : [];
}

/** What a mapping says of a kind that is only known from the name. */
const isAnswer = /^Each row is .*: that is the answer\. /;

/** @returns what it found, why a table that is called like it is not read, or undefined */
async function lookAt(
  source: Source,
  table: SourceTable,
  tables: readonly SourceTable[],
  context: RowContext,
): Promise<Candidate | string | undefined> {
  const alone = await readFirst(source, table, [], context);
  if (!alone) return undefined;
  const lacks = lacksOf(table, alone);
  let best = alone;
  for (const find of [findColumns, findLines]) {
    const columns =
      best.suggestion.lacks.includes('price') || best === alone ? find(table, tables, lacks) : [];
    if (columns.length === 0) continue;
    const found = await readFirst(source, table, columns, context);
    const { lacks: left = [] } = found?.suggestion ?? {};
    // Rows with a product that has a price need not be subscriptions.
    const isSure = alone.isUsable || namedKind(table) || !left.includes('interval');
    if (found?.isUsable && isSure && (find === findColumns || !left.includes('price')))
      best = found;
  }
  if (best.isUsable) return candidateOf(source, table, tables, best);
  const { preview, reason } = best.suggestion;
  const why = 'problem' in preview ? preview.problem : (preview.refused[0]?.reason ?? reason);
  const named = namedKind(table);
  return (
    named && `${nameOf(table)} looks like ${named}s, and is left out. ${why.replace(isAnswer, '')}`
  );
}

async function candidateOf(
  source: Source,
  table: SourceTable,
  tables: readonly SourceTable[],
  { columns: all, suggestion }: Reading,
): Promise<Candidate> {
  const { kind, known, text } = suggestion;
  const name = nameOf(table);
  const columns = all.filter(isIn(text));
  const rules = JSON.parse(withoutComments(text)) as MappingDocument;
  const record = parseMapping(name, text).records.find(({ type }) => type === kind);
  const { column, columns: several = ['id'] } = record?.fields['id'] ?? {};
  const own = table.key.length > 0 ? table.key : column === undefined ? several : [column];
  // Rows of a group must follow each other.
  const group = record?.type === 'subscription' && record.group ? [record.group] : [];
  const key = groupOf(columns) === undefined ? own : [lineId];
  const spec = {
    name: kind ? `${kind}s` : table.name.replaceAll(/[^\w-]/g, '-').slice(0, 60),
    key: [...new Set([...group, ...key])].slice(0, 5),
    query: queryOf(table, columns),
  };
  const changed = group.length === 0 ? findChanged(table, columns) : undefined;
  const timed = changed && {
    ...spec,
    query: queryOf(table, columns, changed.text),
    cursor: changed.name,
  };
  const isTimed = timed && (await isReadable(source, { ...timed, mapping: rules }));
  const lines = group.length === 0 && kind === 'subscription' ? linesOf(table, tables) : [];
  const deleted = table.columns.filter((each) => wordsOf(each) === 'deleted at');
  const doubts = [
    ...lines.map((each) => `${nameOf(each)} has lines of these subscriptions, which are not read`),
    ...deleted.map((each) => `rows with "${each}" are read like all others`),
    ...(isTimed
      ? [`"${timed.cursor}" must be set anew with every change of a row; else remove "cursor"`]
      : []),
  ];
  const checks = [...suggestion.checks.map((check) => check.text), ...doubts];
  const mapping = known ? JSON.stringify(known.replace(/\.json$/, '')) : text.trim();
  const unpriced = suggestion.lacks.includes('price') ? 100 : 0;
  return {
    table: name,
    stream: spec.name,
    isEnough: kind === undefined || kind === 'subscription',
    rank: rankOf(table) * 1000 + unpriced + checks.length,
    texts: [written(isTimed ? timed : spec, mapping, doubts), ...planStreams(rules, columns)],
    checks,
  };
}

/** Whether a mapping reads a column, or a part of it, or has doubts about it. */
const isIn =
  (text: string) =>
  ({ name }: JoinedColumn) =>
    text.includes(`"${name}"`) || text.includes(`"${name}.`);

interface MappingDocument extends Record<string, unknown> {
  readonly records: readonly { readonly type: string; readonly fields: Record<string, unknown> }[];
}

const columnOf = (field: unknown) => (isObject(field) ? field['column'] : field);

/** All rows of the plans that subscriptions refer to, made as those make them. */
function planStreams(rules: MappingDocument, columns: readonly JoinedColumn[]): readonly string[] {
  const { fields = {} } = rules.records.find(({ type }) => type === 'plan') ?? {};
  const key = String(columnOf(fields['id']));
  const interval = String(columnOf(fields['intervalUnit']));
  const read = JSON.stringify(fields);
  const query = planQueryOf(key, columns.filter(isIn(read)), interval);
  if (query === undefined) return [];
  const mapping = { ...rules, records: [{ type: 'plan', fields }] };
  return [written({ name: 'plans', query, key: [key] }, writeDocument(mapping).trim())];
}

/** Whether a stream can be read by its cursor. */
async function isReadable(source: Source, spec: StreamSpec): Promise<boolean> {
  const [stream] = await openStreams([spec]);
  return checkColumns(source, stream as Stream).then(
    () => true,
    () => false,
  );
}

/** A stream as JSON, with comments on what is unsure. */
function written(spec: object, mapping: string, doubts: readonly string[] = []): string {
  const members = Object.entries(spec).map(
    ([name, value]: [string, string | readonly string[]]) => {
      const lines = name === 'query' ? String(value).split('\n') : [];
      return `"${name}": ${lines.length > 1 ? JSON.stringify(lines, null, 2) : JSON.stringify(value)},`;
    },
  );
  const marks = doubts.map((doubt) => `// ${checkMark}: ${doubt}`);
  const lines = [...marks, ...members, `"mapping": ${mapping}`].join('\n').split('\n');
  return ['{', ...lines.map((line) => `  ${line}`), '}'].join('\n');
}

function nothingFound(
  tables: readonly SourceTable[],
  looked: readonly SourceTable[],
  titles: readonly string[],
): CommandError {
  if (tables.length === 0) {
    return new CommandError(
      'The login may read no table. Grant it select on those with subscriptions, plans, payments and refunds, and usage on their schemas.',
    );
  }
  const names = looked.map(nameOf).join(', ');
  const left = tables.length - looked.length;
  return new CommandError(
    `No subscriptions were found. Looked for the tables of ${titles.join(', ')}, and for rows that are subscriptions in ${names}${left > 0 ? ` (not in ${left} others)` : ''}. Write the streams yourself: docs/postgres.md.`,
  );
}
