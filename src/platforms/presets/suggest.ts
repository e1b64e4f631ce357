import { CommandError, UsageError } from '../../errors.ts';
import { parseMapping, withoutComments } from '../../mapping/read.ts';
import { checkMark } from '../../mapping/suggest/document.ts';
import { isNamed, wordsOf } from '../../mapping/suggest/names.ts';
import type { Head } from '../../mapping/suggest/head.ts';
import { type SuggestOptions, suggestMapping } from '../../mapping/suggest/suggest.ts';
import { PlatformError } from '../errors.ts';
import type { PlatformCode } from '../platform.ts';
import { parseTarget, urlForm } from '../postgres/address.ts';
import { type Source, withSource } from '../postgres/connection.ts';
import { checkColumns } from '../postgres/read.ts';
import { checkRights } from '../postgres/rights.ts';
import { type Stream, type StreamSpec, openStreams } from '../postgres/streams.ts';
import { type SourceTable, findPresets, identifier, listPresetTitles } from './presets.ts';

type Context = Pick<SuggestOptions, 'clock' | 'currency'>;

/** Suggests what to read of a merchant's database. */
export const suggest: NonNullable<PlatformCode['suggest']> = async ({ url }, currency, context) => {
  const target = parseTarget(url);
  if (!target) throw new UsageError(`url must be ${urlForm}.`);
  const { sourceNetworks: networks = [], clock, signal } = context;
  return withSource(target, { networks, signal }, async (source) => {
    await checkRights(source, target.user);
    const { text, ...found } = await findStreams(source, { currency, clock });
    const streams: unknown = JSON.parse(withoutComments(text));
    return { ...found, fields: { streams }, texts: { streams: text } };
  });
};

async function findStreams(source: Source, context: Context) {
  const tables = await listTables(source);
  const [found, ...others] = await findPresets(tables);
  if (!found) return suggestByRows(source, tables, context);
  const { name, title, schema, streams, notes } = found;
  // The same tables may have what another maker's need.
  const elsewhere = others.filter((other) => other.schema !== schema);
  for (const stream of await openStreams(streams)) await checkColumns(source, stream);
  return {
    preset: { name, title },
    text: JSON.stringify(streams, null, 2),
    notes: [
      ...notes,
      ...elsewhere.map((other) => `There is also ${other.title}, in the schema ${other.schema}.`),
      ...(elsewhere.length > 0 ? [`This is ${title}, in the schema ${schema}.`] : []),
    ],
  };
}

async function listTables(source: Source): Promise<readonly SourceTable[]> {
  const { rows } = await source.query<{ table: string }>({
    text: `
      select json_build_object('schema', n.nspname, 'name', c.relname,
        'columns', json_agg(a.attname order by a.attnum),
        'key', coalesce(json_agg(a.attname order by a.attnum) filter (where a.attnum = any (i.indkey)), '[]'))::text as table
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_index i on i.indrelid = c.oid and i.indisprimary
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
        and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
        and has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT')
      group by n.nspname, c.relname
      order by n.nspname, c.relname
      limit 2000`,
  });
  return rows.map(({ table }) => JSON.parse(table) as SourceTable);
}

/** What is read of tables that no known maker has made. Rows of subscriptions give their plans, too. */
const kinds = ['subscription', 'payment', 'refund'] as const;
/** How many tables are looked at, and how many of their rows. Each takes up to a second. */
const [maxTables, maxRows] = [20, 500];

/** Tables that are called like something to import come first. */
function rankOf({ name }: SourceTable): number {
  const words = wordsOf(name);
  const rank = [...kinds, 'invoice' as const].findIndex((kind) => isNamed(words, kind));
  return rank === -1 ? kinds.length + 1 : rank;
}

async function suggestByRows(source: Source, tables: readonly SourceTable[], context: Context) {
  const looked = tables.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, maxTables);
  const candidates: Candidate[] = [];
  const unread: string[] = [];
  for (const table of looked) {
    // A view may fail.
    await source.query({ text: 'savepoint looked' });
    const found = await lookAt(source, table, context).catch(async (error: unknown) => {
      if (!(error instanceof PlatformError)) throw error;
      await source.query({ text: 'rollback to savepoint looked' });
      unread.push(error.message);
      return [];
    });
    candidates.push(...found);
  }
  const chosen = Map.groupBy(candidates, ({ stream }) => stream)
    .values()
    .flatMap((each) => each.toSorted((a, b) => a.rank - b.rank).slice(0, 1))
    .toArray();
  if (!chosen.some(({ isEnough }) => isEnough)) {
    throw nothingFound(tables, looked, await listPresetTitles());
  }
  return {
    text: `[\n${chosen.map((each) => each.text.replaceAll(/^/gm, '  ')).join(',\n')}\n]`,
    notes: [
      ...candidates.flatMap((candidate) =>
        chosen.includes(candidate)
          ? candidate.checks.map((check) => `${candidate.table}: ${check}.`)
          : [`${candidate.table} looks like ${candidate.stream}, too, and is left out.`],
      ),
      ...unread,
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
  readonly text: string;
  readonly checks: readonly string[];
}

/** @returns undefined if the rows are nothing that can be read of a table */
async function suggestFor(name: string, head: Head, options: SuggestOptions) {
  const found = await suggestMapping(name, head, options).catch((error: unknown) => {
    if (error instanceof CommandError) return undefined;
    throw error;
  });
  if (!found || 'problem' in found.preview) return undefined;
  const { kind, known, preview } = found;
  const isUsable = known !== undefined || kinds.some((each) => each === kind);
  const made = Object.values(preview.counts).reduce((sum, count) => sum + count, 0);
  return isUsable && made > preview.refusedRows ? found : undefined;
}

async function lookAt(
  source: Source,
  table: SourceTable,
  context: Context,
): Promise<readonly Candidate[]> {
  const name = `${table.schema}.${table.name}`;
  const query = `select * from ${identifier(table.schema, table.name)}`;
  const text = `select row_to_json(q)::text as row from (${query} limit ${maxRows}) q`;
  const { rows } = await source.query<{ row: string }>({ text }, table.name);
  if (rows.length === 0) return [];
  const bytes = Buffer.from(rows.map(({ row }) => row).join('\n'));
  const head = { bytes, isWhole: rows.length < maxRows };
  const named = kinds.find((kind) => isNamed(wordsOf(table.name), kind));
  const found =
    (await suggestFor(name, head, context)) ??
    (named && (await suggestFor(name, head, { ...context, answers: new Map([['kind', named]]) })));
  if (!found) return [];
  const { kind, known } = found;
  const record = parseMapping(name, found.text).records.find(({ type }) => type === kind);
  const { column, columns = ['id'] } = record?.fields['id'] ?? {};
  const own = table.key.length > 0 ? table.key : column === undefined ? columns : [column];
  // Rows of a group must follow each other.
  const group = record?.type === 'subscription' && record.group ? [record.group] : [];
  const spec = {
    name: kind ? `${kind}s` : table.name.replaceAll(/[^\w-]/g, '-').slice(0, 60),
    query,
    key: [...new Set([...group, ...own])].slice(0, 5),
  };
  const rules = JSON.parse(withoutComments(found.text)) as Exclude<StreamSpec['mapping'], string>;
  const cursor =
    group.length > 0 ? undefined : await findCursor(source, { ...spec, mapping: rules }, table);
  const checks = found.checks.map((check) => check.text);
  if (cursor !== undefined) checks.push(doubtOf(cursor));
  const mapping = known ? JSON.stringify(known.replace(/\.json$/, '')) : found.text.trim();
  return [
    {
      table: name,
      stream: spec.name,
      isEnough: kind === undefined || kind === 'subscription',
      rank: rankOf(table) * 1000 + checks.length,
      text: written(spec, mapping, cursor),
      checks,
    },
  ];
}

const changed =
  /^(?:last |row |record )?(?:updated|modified|changed)(?: (?:at|on|date|time|timestamp))?$/;

/** A column that says when a row was changed. */
async function findCursor(source: Source, spec: StreamSpec, { columns }: SourceTable) {
  const cursor = columns.find((column) => changed.test(wordsOf(column)));
  if (cursor === undefined) return undefined;
  const [stream] = await openStreams([{ ...spec, cursor }]);
  return checkColumns(source, stream as Stream).then(
    () => cursor,
    () => undefined,
  );
}

const doubtOf = (cursor: string) =>
  `"${cursor}" must be set anew with every change of a row; else remove "cursor"`;

/** A stream as JSON, with comments on what is unsure. */
function written(spec: object, mapping: string, cursor: string | undefined): string {
  const members = Object.entries(spec).map(
    ([name, value]) => `"${name}": ${JSON.stringify(value)},`,
  );
  if (cursor !== undefined) {
    members.push(`// ${checkMark}: ${doubtOf(cursor)}`, `"cursor": ${JSON.stringify(cursor)},`);
  }
  const lines = [...members, `"mapping": ${mapping}`].join('\n').split('\n');
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
  const names = looked.map(({ schema, name }) => `${schema}.${name}`).join(', ');
  return new CommandError(
    `No subscriptions were found. Looked for the tables of ${titles.join(', ')}, and for rows that are subscriptions in ${names}. Write the streams yourself: docs/postgres.md.`,
  );
}
