import { CommandError } from '../../errors.ts';
import type { Sql, Transaction } from '../database.ts';
import { ofRequests, pagesOf } from '../shop-copy.ts';
import { type ShopTable, childrenFirst, countRows } from '../shop-tables.ts';

type Rows = Sql | Transaction;
type Row = Readonly<Record<string, unknown>>;

/** The columns that the other place has in another form. */
export type Translate = (table: string, row: Row) => Row;

export interface CopyOptions {
  readonly shopId: number;
  /** For the tables of `translated`. */
  readonly translate: Translate;
  readonly progress: (rows: number) => void;
}

/** Columns with secrets, which each place encrypts with its own key. */
export const sealedColumns = {
  'ingest.sources': ['secret', 'previous_secret'],
  'owners.factors': ['key'],
  'owners.sso_providers': ['client_secret'],
  'platforms.connections': ['credentials'],
} as const;

/** How the secrets of all shops begin: enough to tell which keys have encrypted them. */
export async function listSealedBeginnings(sql: Sql): Promise<string[]> {
  const all = Object.entries(sealedColumns).flatMap(([table, columns]) =>
    columns.map(
      (column) =>
        // The key of a passkey is public.
        `select left(${column}, 6) as beginning from ${table} t
         where ${column} is not null and to_jsonb(t) ->> 'credential_id' is null`,
    ),
  );
  const rows = await sql.unsafe<{ beginning: string }[]>(all.join(' union '), []);
  return rows.map(({ beginning }) => beginning);
}

/** Columns that each place has in its own form: they are not compared. */
const translated: Readonly<Record<string, readonly string[]>> = {
  ...sealedColumns,
  api_keys: ['last_used_at'],
  metric_shops: ['writer', 'move_id', 'moving_to'],
  'owners.links': ['owner_id', 'invited_by'],
  'owners.memberships': ['owner_id'],
  'owners.notifications': ['owner_id'],
};

/** They go on until the old place refuses the keys: what comes last may be missing at the new one. */
export const isOfRequests = ({ name }: Pick<ShopTable, 'name'>): boolean =>
  ofRequests.some((table) => table === name);

const quoted = (columns: readonly string[]) => columns.map((column) => `"${column}"`);

/**
 * Copies rows, parents first.
 * @param since copies only what this or a later transaction has written
 */
export async function copyRows(
  from: Rows,
  to: Transaction,
  tables: readonly ShopTable[],
  { shopId, translate, progress, since }: CopyOptions & { readonly since?: string | undefined },
): Promise<void> {
  for (const table of childrenFirst(tables).toReversed()) {
    const { name, key } = table;
    // Such a table has few rows of a shop; each pass copies it whole, since no key finds the rows that have gone.
    if (!key) await to.unsafe(`delete from ${name} where shop_id = $1`, [shopId]);
    const insert = insertInto(table);
    // A batch may have megabytes.
    const rowsPerPage = name === 'ingest.batches' ? 20 : 1_000;
    const options = key ? { rowsPerPage, since } : { rowsPerPage };
    for await (const page of pagesOf(from, { name, key: key ?? [] }, shopId, options)) {
      // Merged by the database, since numbers that JavaScript has read may have lost digits.
      const rows = translated[name]
        ? page.map((row) => `[${row},${JSON.stringify(translate(name, JSON.parse(row)))}]`)
        : page;
      await to.unsafe(insert, [`[${rows.join(',')}]`]);
      progress(rows.length);
    }
  }
}

function insertInto({ name, key, columns, identities }: ShopTable): string {
  const all = quoted(columns).join(', ');
  const keyColumns = ['shop_id', ...(key ?? []).map((column) => column.name)];
  const fixed = new Set([...keyColumns, ...identities]);
  const others = quoted(columns.filter((column) => !fixed.has(column)));
  const set = others.map((column) => `${column} = excluded.${column}`).join(', ');
  // Entries of the audit log never change.
  const isFixed = others.length === 0 || name === 'audit_entries';
  const rows = translated[name]
    ? `jsonb_populate_recordset(null::${name}, (
        select jsonb_agg((pair -> 0) || (pair -> 1)) from jsonb_array_elements($1::text::jsonb) pair))`
    : `json_populate_recordset(null::${name}, $1::text::json)`;
  return `insert into ${name} (${all}) overriding system value
    select ${all} from ${rows}
    ${key ? `on conflict (${quoted(keyColumns).join(', ')}) do ${isFixed ? 'nothing' : `update set ${set}`}` : ''}`;
}

/**
 * Deletes rows of the copy that the original no longer has, children first.
 * @throws CommandError if the numbers of rows then still differ
 */
export async function removeGone(
  from: Rows,
  to: Transaction,
  tables: readonly ShopTable[],
  shopId: number,
): Promise<void> {
  const differ = async ({ name }: ShopTable) => {
    const [rows, copied] = await Promise.all([from, to].map((sql) => countRows(sql, name, shopId)));
    return rows !== copied;
  };
  for (const table of childrenFirst(tables)) {
    if (isOfRequests(table) || !(await differ(table))) continue;
    await removeFrom(from, to, table, shopId);
    if (await differ(table)) throw differenceIn([table.name]);
  }
}

const keysPerPage = 5_000;

async function removeFrom(
  from: Rows,
  to: Transaction,
  { name, key = [] }: ShopTable,
  shopId: number,
): Promise<void> {
  const columns = quoted(key.map((column) => column.name)).join(', ');
  if (columns === '') return;
  let after: string | undefined;
  const removeUpTo = async (end: string | undefined, kept: readonly string[]) => {
    const bounds = Object.entries({ '>': after, '<=': end }).flatMap(([operator, row]) =>
      row === undefined ? [] : [{ operator, row }],
    );
    const within = bounds.map(
      ({ operator }, index) =>
        `and (${columns}) ${operator} (select ${columns} from json_populate_record(null::${name}, $${index + 3}::text::json))`,
    );
    await to.unsafe(
      `delete from ${name} where shop_id = $1 and (${columns}) not in (
        select ${columns} from json_populate_recordset(null::${name}, $2::text::json)) ${within.join(' ')}`,
      [shopId, `[${kept.join(',')}]`, ...bounds.map(({ row }) => row)],
    );
    after = end;
  };
  const keys = { name: `(select shop_id, ${columns} from ${name})`, key };
  for await (const page of pagesOf(from, keys, shopId, { rowsPerPage: keysPerPage })) {
    await removeUpTo(page.at(-1), page);
  }
  await removeUpTo(undefined, []);
}

/**
 * Compares a digest of each table's rows.
 * @throws CommandError that names the tables which differ
 */
export async function compareRows(
  from: Rows,
  to: Transaction,
  tables: readonly ShopTable[],
  shopId: number,
): Promise<void> {
  const differing: string[] = [];
  for (const { name, columns } of tables) {
    const compared = columns.filter((column) => !translated[name]?.includes(column));
    const text = `row(${quoted(compared).join(', ')})::text`;
    const digest = `
      select count(*) || ' ' || coalesce(bit_xor(hashtextextended(${text}, 0)), 0) as digest
      from ${name} where shop_id = $1`;
    const found = await Promise.all(
      [from, to].map((sql) => sql.unsafe<{ digest: string }[]>(digest, [shopId])),
    );
    if (found[0]?.[0]?.digest !== found[1]?.[0]?.digest) differing.push(name);
  }
  if (differing.length > 0) throw differenceIn(differing);
}

const differenceIn = (tables: readonly string[]) =>
  new CommandError(
    `The rows copied are not those of the shop, in ${tables.join(', ')}. Nothing was changed; run the command again.`,
  );
