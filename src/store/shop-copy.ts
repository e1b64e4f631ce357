import path from 'node:path';
import { CommandError } from '../errors.ts';
import type { Sql, Transaction } from './database.ts';
import { findShortage, newDatabaseBytes, reserveBytes } from './embedded/folder.ts';
import { openEmptyStore } from './empty-store.ts';
import type { Store } from './open.ts';
import { auditTables } from './owners/audit.ts';
import { type ShopTable, listShopTables } from './shop-tables.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/** Few enough to read in a moment, and to fit in memory whatever they hold. */
const usualRowsPerPage = 1_000;

type CopiedTable = Pick<ShopTable, 'name'> & { readonly key: NonNullable<ShopTable['key']> };

/** Written beside requests, by key. */
export const ofRequests = ['key_uses', 'request_batches', 'request_counts', 'request_log'] as const;

/** A copy needs no keys, nor what was read with them: it is not read through the API. Nor who did what. */
const leftOut: ReadonlySet<string> = new Set(['api_keys', ...ofRequests, ...auditTables]);

interface StateOptions {
  readonly shopId: number;
  /** Whether a transaction would hold up all other clients, as in the embedded database. */
  readonly isEmbedded: boolean;
  readonly isOnce?: boolean;
}

export interface CopyOptions extends StateOptions {
  /** Stops copying; its reason is thrown. */
  readonly signal?: AbortSignal;
}

const attempts = 3;

/**
 * Copies everything stored about a shop's business to another database, figures included. The original is only
 * read, without locks, in one state.
 * @param to a database with the same schema, of this process alone
 * @throws CommandError if the shop changes all the time
 */
export async function copyShop(from: Sql, to: Sql, options: CopyOptions): Promise<void> {
  await inOneState(from, options, (sql) => copyTables(sql, to, options));
}

/**
 * Reads a shop in one state, without locks.
 * @param work is repeated if the shop changes meanwhile, unless it may only be done once
 * @throws CommandError if the shop changes all the time
 */
export async function inOneState<T>(
  sql: Sql,
  { shopId, isEmbedded, isOnce = false }: StateOptions,
  work: (sql: Sql | Transaction) => Promise<T>,
): Promise<T> {
  if (!isEmbedded) return sql.begin('isolation level repeatable read read only', work);
  for (let attempt = 1; attempt <= (isOnce ? 1 : attempts); attempt += 1) {
    const before = await findWriter(sql, shopId);
    const result = await work(sql);
    if ((await findWriter(sql, shopId)) === before) return result;
  }
  throw new CommandError(
    `Shop ${shopId} changed while it was read${isOnce ? '' : `, ${attempts} times`}. Try again when nothing else is imported into it.`,
  );
}

/** Changes with each transaction that changes the shop. */
export async function findWriter(
  sql: Sql | Transaction,
  shopId: number,
): Promise<string | null | undefined> {
  const [found] = await sql<{ writer: string | null }[]>`
    select writer::text as writer from metric_shops where shop_id = ${shopId}`;
  return found?.writer;
}

async function copyTables(
  from: Sql | Transaction,
  to: Sql,
  { shopId, signal }: CopyOptions,
): Promise<void> {
  for (const table of await listTables(to)) {
    await inCopy(to, `delete from ${table.name} where shop_id = $1`, shopId);
    const insert = `insert into ${table.name}
      select * from json_populate_recordset(null::${table.name}, $1::text::json)`;
    for await (const rows of pagesOf(from, table, shopId)) {
      signal?.throwIfAborted();
      await inCopy(to, insert, `[${rows.join(',')}]`);
    }
  }
}

/** Runs a statement without triggers: the copy has what they derive. */
async function inCopy(to: Sql, statement: string, value: number | string): Promise<void> {
  await to.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica');
    await tx.unsafe(statement, [value]);
  });
}

/** What a copy has: the shop's business, not what is stored about its owners and connections. */
export async function listTables(sql: Sql): Promise<CopiedTable[]> {
  const all = await listShopTables(sql);
  return all.flatMap(({ name, key }) =>
    key && !name.includes('.') && !leftOut.has(name) ? [{ name, key }] : [],
  );
}

interface PageOptions {
  readonly rowsPerPage?: number;
  /** Reads only what this or a later transaction has written. */
  readonly since?: string | undefined;
}

/** The rows of a shop as JSON, by primary key. They stay text, so that no number is rounded. */
export async function* pagesOf(
  sql: Sql | Transaction,
  { name, key }: CopiedTable,
  shopId: number,
  { rowsPerPage = usualRowsPerPage, since }: PageOptions = {},
): AsyncGenerator<string[]> {
  const columns = key.map((column) => `t.${column.name}`);
  const ends = key.map(({ name: column }) => `t.${column}::text as "key ${column}"`);
  const after = key.map(({ type }, index) => `$${index + 2}::text::${type}`);
  const order = columns.length > 0 ? `order by ${columns.join(', ')} limit ${rowsPerPage}` : '';
  const read = `select ${[...ends, 'row_to_json(t)::text as json'].join(', ')} from ${name} t
    where t.shop_id = $1
      ${since === undefined ? '' : `and age(t.xmin) <= age('${since}'::xid8::xid)`}`;
  const next = `${read} and (${columns.join(', ')}) > (${after.join(', ')}) ${order}`;
  type Row = Record<string, string>;
  let page: readonly Row[] = await sql.unsafe<Row[]>(`${read} ${order}`, [shopId]);
  while (page.length > 0) {
    yield page.map(({ json }) => json as string);
    const last = page.at(-1) as Row;
    if (key.length === 0 || page.length < rowsPerPage) return;
    const position = key.map(({ name: column }) => last[`key ${column}`] as string);
    page = await sql.unsafe<Row[]>(next, [shopId, ...position]);
  }
}

/**
 * Runs work on a copy of a shop, in an embedded database in the temporary folder that is removed afterwards.
 * @throws CommandError if the shop changes all the time, or if the disk is full
 */
export async function withShopCopy<T>(
  sql: Sql,
  options: CopyOptions,
  work: (copy: Store) => Promise<T>,
): Promise<T> {
  const folder = createTemporaryFolder('copy');
  try {
    const shortage = findShortage(folder.path, reserveBytes + newDatabaseBytes);
    if (shortage !== undefined) {
      throw new CommandError(`${shortage} Or set TMPDIR to a folder on a larger disk.`);
    }
    const copy = await openEmptyStore(path.join(folder.path, 'data'));
    try {
      await copyShop(sql, copy.write, options);
      return await work(copy);
    } finally {
      await copy.close();
    }
  } finally {
    folder.remove();
  }
}
