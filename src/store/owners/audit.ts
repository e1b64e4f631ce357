import { type Act, type Actor, type People, ownerIdIn } from '../../acts.ts';
import { type Sql, type Transaction, arrayText, withTimeout } from '../database.ts';
import { type TimeOrder, keyset } from '../records/listing.ts';
import { type Person, listMemberships } from './owners.ts';

/** The chain of what concerns no shop, in place of a shop's id. */
export const installation = 0;

/** They are not among a shop's data. */
export const auditTables: ReadonlySet<string> = new Set(['audit_entries', 'audit_heads']);

export interface AuditEntry {
  readonly shopId: number;
  /** From 1, without gaps. */
  readonly number: number;
  readonly at: Date;
  readonly who: string;
  readonly session: string | null;
  /** One of `acts`, or of those of a later version. */
  readonly what: string;
  readonly target: string | null;
  readonly network: string | null;
}

/** An entry with the hash of the one before and its own, in hexadecimal. */
export interface ChainedEntry extends AuditEntry {
  readonly previous: string;
  readonly hash: string;
}

export interface Happened {
  readonly at: Date;
  readonly by: Actor;
  readonly what: Act;
  readonly target?: string | null;
  /** Whether strangers can cause any number of them: a chain takes only some a minute. */
  readonly isLimited?: boolean;
}

/**
 * Appends to the chain of a shop, in the transaction that does what the entry says, if that changes the database. Best
 * at its end: until the transaction ends, others wait for the chain.
 */
export async function appendEntry(
  tx: Sql | Transaction,
  shopId: number,
  { at, by, what, target = null, isLimited = false }: Happened,
): Promise<void> {
  const { who, session = null, network = null } = by;
  const [row] = await tx<{ place: { number: number; hash: string } | null }[]>`
    select append_audit_entry(${shopId}, ${at}, ${who}, ${session}, ${what}, ${target}, ${network},
      ${isLimited}) as place`;
  if (!row?.place) return;
  const { number, hash } = row.place;
  tx.note({ ...documentOf({ shopId, number, at, who, session, what, target, network }), hash });
}

/** Does something in a transaction and appends what happened, unless it did nothing. */
export function audited<Result>(
  sql: Sql,
  shopId: number,
  happened: Happened,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return sql.begin(async (tx) => {
    const result = await work(tx);
    if (result) await appendEntry(tx, shopId, happened);
    return result;
  });
}

/**
 * Appends to the chains of all shops of an owner, or to the installation's.
 * @param joined the one that the owner joins by it, whose chain says that instead
 */
export async function appendForOwner(
  tx: Transaction,
  ownerId: string,
  happened: Happened,
  joined?: number,
): Promise<void> {
  const shopIds = (await listMemberships(tx, ownerId)).map(({ shopId }) => shopId);
  for (const shopId of shopIds.length === 0 ? [installation] : shopIds) {
    const isNew = shopId === joined;
    await appendEntry(tx, shopId, isNew ? { ...happened, what: 'owner_added' } : happened);
  }
}

/** Says how many failed attempts to sign in were left out, if the last ones are more than a minute old. */
export async function appendOmitted(sql: Sql, shopId: number, at: Date): Promise<void> {
  await sql`select append_audit_entry(${shopId}, ${at}, null, null, null, null, null, false)`;
}

/** Which shop a chain is of; null for the installation's. */
export const shopOf = (shopId: number) => (shopId === installation ? null : shopId);

/** An entry as programs get it. */
export function documentOf(entry: AuditEntry) {
  const { shopId, number, at, who, session, what, target, network } = entry;
  const shop = shopOf(shopId);
  return { id: `${shopId}-${number}`, at, shop, who, session, what, target, network };
}

/** The entries of a chain after a number, in order. */
export function listChain(
  sql: Sql | Transaction,
  shopId: number,
  after: number,
  limit: number,
): Promise<ChainedEntry[]> {
  return sql<ChainedEntry[]>`
    select shop_id as "shopId", number, at, who, session, what, target, network,
      encode(previous, 'hex') as previous, encode(hash, 'hex') as hash
    from audit_entries where shop_id = ${shopId} and number > ${after}
    order by number limit ${limit}`;
}

interface EntryFilter {
  readonly from?: Date;
  /** Before which. */
  readonly to?: Date;
  readonly who?: string | undefined;
  readonly what?: readonly string[] | undefined;
  readonly order?: TimeOrder;
  readonly after?: { readonly at: Date; readonly number: number } | undefined;
  readonly limit: number;
}

/** The entries of a shop by time, the newest first unless the order says otherwise. */
export function listEntries(
  sql: Sql,
  shopId: number,
  { from, to, who, what, order = 'newest', after, limit }: EntryFilter,
): Promise<AuditEntry[]> {
  const { beyond, by } = keyset(sql, order, ['at', 'number'], after);
  const isTheirs = who === undefined ? sql`true` : sql`who = ${who}`;
  const isAsked = what === undefined ? sql`true` : sql`what = any (${arrayText(what)}::text[])`;
  return withTimeout(sql<AuditEntry[]>`
    select shop_id as "shopId", number, at, who, session, what, target, network
    from audit_entries
    where shop_id = ${shopId} and at >= ${from ?? '-infinity'} and at < ${to ?? 'infinity'}
      and ${beyond} and ${isTheirs} and ${isAsked}
    order by ${by()} limit ${limit}`);
}

/** How many entries a shop has in a period, by who did what. */
export function countEntries(
  sql: Sql,
  shopId: number,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<{ readonly who: string; readonly what: string; readonly count: number }[]> {
  return withTimeout(sql<{ who: string; what: string; count: number }[]>`
    select who, what, count(*)::int as count
    from (
      select who, what from audit_entries
      where shop_id = ${shopId} and at >= ${from} and at < ${to} order by at offset 0
    ) found
    group by who, what`);
}

/** The owners in entries, by `owner` and the id as entries have them. */
export async function listPeople(
  sql: Sql,
  entries: readonly (Pick<AuditEntry, 'who'> & Partial<Pick<AuditEntry, 'target'>>)[],
): Promise<People> {
  const ids = entries
    .flatMap(({ who, target = null }) => [who, target ?? ''])
    .flatMap((text) => ownerIdIn(text) ?? []);
  if (ids.length === 0) return new Map();
  const rows = await withTimeout(sql<(Person & { readonly ownerId: string })[]>`
    select owner_id as "ownerId", email, name from owners.accounts
    where owner_id = any (${arrayText([...new Set(ids)])}::uuid[])`);
  return new Map(rows.map(({ ownerId, ...person }) => [`owner ${ownerId}`, person]));
}

/** The last entry of a chain. */
export interface AuditHead {
  readonly shopId: number;
  readonly number: number;
  readonly hash: string;
}

export function listAuditHeads(sql: Sql): Promise<AuditHead[]> {
  return sql<AuditHead[]>`
    select shop_id as "shopId", number, encode(hash, 'hex') as hash from audit_heads order by shop_id`;
}

export async function findAuditHead(
  sql: Sql | Transaction,
  shopId: number,
): Promise<AuditHead | undefined> {
  const [head] = await sql<AuditHead[]>`
    select shop_id as "shopId", number, encode(hash, 'hex') as hash
    from audit_heads where shop_id = ${shopId}`;
  return head;
}

/** The last entry before the first one that is not older than a time. */
export async function findLastBefore(
  tx: Transaction,
  shopId: number,
  before: Date,
): Promise<ChainedEntry | undefined> {
  const [kept] = await tx<{ number: number }[]>`
    select number from audit_entries where shop_id = ${shopId} and at >= ${before}
    order by number limit 1`;
  const last = kept ? kept.number - 1 : ((await findAuditHead(tx, shopId))?.number ?? 0);
  const [entry] = await listChain(tx, shopId, last - 1, 1);
  return entry?.number === last ? entry : undefined;
}

/** Deletes the beginning of a chain, up to a number. */
export async function deleteEntries(tx: Transaction, shopId: number, upTo: number): Promise<void> {
  await allowDeletion(tx);
  await tx`delete from audit_entries where shop_id = ${shopId} and number <= ${upTo}`;
}

/** Deletes all of a shop's chain. */
export async function deleteChain(tx: Transaction, shopId: number): Promise<void> {
  await allowDeletion(tx);
  await tx`delete from audit_entries where shop_id = ${shopId}`;
  await tx`delete from audit_heads where shop_id = ${shopId}`;
}

/** For this transaction, also on the nodes of a cluster. The table's owner alone may. */
async function allowDeletion(tx: Transaction): Promise<void> {
  await tx.script(`
    set local citus.propagate_set_commands = 'local';
    set local retention.audit_deletion = 'on'`);
}
