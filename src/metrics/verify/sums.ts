import { type Sql, type Transaction, arrayText } from '../../store/database.ts';
import type { Part } from '../ledger.ts';
import { each, lookup } from '../../store/lookup.ts';

/** A ledger sum, or a fact behind it, that differs from the records. */
export interface LedgerDifference {
  readonly table: 'metric_ledger' | 'subscriptions' | FactTable;
  /** The row's key columns, in order. */
  readonly key: string;
  readonly stored: string | null;
  readonly expected: string | null;
}

type FactTable =
  | 'customer_values'
  | 'subscriber_changes'
  | 'failed_cycles'
  | 'dunning_cases'
  | 'departures'
  | 'price_changes'
  | 'subscription_values'
  | 'superseded_facts';

interface Row {
  readonly key: string;
  readonly value: string;
}

/** Whose facts these are, and the columns of the primary key without the shop. */
const factTables: Readonly<Record<FactTable, readonly [owner: Owner, key: string]>> = {
  customer_values: ['customer', 'customer_id'],
  departures: ['subscription', 'subscription_id'],
  dunning_cases: ['subscription', 'subscription_id, position'],
  failed_cycles: ['subscription', 'subscription_id, cycle, failed_at'],
  price_changes: ['subscription', 'subscription_id, at'],
  subscriber_changes: ['customer', 'customer_id, at'],
  subscription_values: ['subscription', 'subscription_id'],
  superseded_facts: ['subscription', 'subscription_id, fact, cycle, until'],
};

type Owner = 'subscription' | 'customer';

/** Maximum number of differences reported; one cause may produce thousands. */
const maxDifferences = 100;
/** How many customers or subscriptions are compared at a time. */
const ownersPerStatement = 5_000;

/**
 * Compares a shop's stored metrics with its records. Reads all of them, so others must not write meanwhile,
 * or the transaction must be repeatable read.
 */
export async function findLedgerDifferences(
  sql: Sql | Transaction,
  shopId: number,
): Promise<LedgerDifference[]> {
  const found: LedgerDifference[] = [];
  const comparisons = [
    ...(Object.keys(factTables) as FactTable[]).map((table) => compareFacts(sql, shopId, table)),
    compareSaves(sql, shopId),
  ];
  for (const comparison of comparisons) {
    for await (const differences of comparison) {
      found.push(...differences);
      if (found.length >= maxDifferences) return found.slice(0, maxDifferences);
    }
  }
  found.push(...(await compareLedger(sql, shopId)));
  return found.slice(0, maxDifferences);
}

/** Ids in slices, each as the text of an array. @param listAfter the next ids, in order */
async function* slicesOf(listAfter: (after: number) => Promise<number[]>) {
  for (let after = 0; ;) {
    const ids = await listAfter(after);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    yield arrayText(ids);
  }
}

async function* compareFacts(sql: Sql | Transaction, shopId: number, table: FactTable) {
  const [owner, key] = factTables[table];
  const [from, factsOf, ownerId, keyColumns] = [table, `${table}_of`, `${owner}_id`, key].map(
    (text) => sql.unsafe(text),
  ) as [Part, Part, Part, Part];
  for await (const some of slicesOf((after) => listOwners(sql, shopId, table, after))) {
    const [stored, expected] = await Promise.all([
      sql<Row[]>`
        select concat_ws(' ', ${keyColumns}) as key, (to_jsonb(f) - 'shop_id')::text as value
        from unnest(${some}::text::bigint[]) owner (id)
        cross join lateral (
          select * from ${from}
          where shop_id = ${shopId} and ${ownerId} between owner.id and owner.id
          order by ${ownerId} offset 0
        ) f`,
      sql<Row[]>`
        select concat_ws(' ', ${keyColumns}) as key, to_jsonb(f)::text as value
        from ${factsOf}(${shopId}, ${some}::text::bigint[]) f`,
    ]);
    yield differencesOf(table, stored, expected);
  }
}

/** The next ids of those who have facts, or should have. */
async function listOwners(
  sql: Sql | Transaction,
  shopId: number,
  table: FactTable,
  after: number,
): Promise<number[]> {
  const [owner] = factTables[table];
  const [ownerId, owners] = [sql.unsafe(`${owner}_id`), `${owner}s`];
  const idsIn = (place: string) => sql`
    select distinct ${ownerId} as id from ${sql.unsafe(place)}
    where shop_id = ${shopId} and ${ownerId} > ${after}
    order by 1 limit ${ownersPerStatement}`;
  const rows = await sql<{ id: number }[]>`
    (${idsIn(owners)}) union (${idsIn(table)}) order by 1 limit ${ownersPerStatement}`;
  return rows.map(({ id }) => id);
}

/** When each subscription was last saved, of those that were. */
async function* compareSaves(sql: Sql | Transaction, shopId: number) {
  const ofOwners = (ids: string, rows: Part) => sql<Row[]>`
    select o.id::text as key, r.saved_at::text as value
    from unnest(${ids}::text::bigint[]) o (id)
    cross join lateral (${rows}) r
    where r.saved_at is not null`;
  const listAfter = async (after: number) => {
    const rows = await sql<{ id: number }[]>`
      select subscription_id as id from subscriptions
      where shop_id = ${shopId} and subscription_id > ${after}
      order by subscription_id limit ${ownersPerStatement}`;
    return rows.map(({ id }) => id);
  };
  for await (const ids of slicesOf(listAfter)) {
    const [stored, expected] = await Promise.all([
      ofOwners(
        ids,
        sql`
        select saved_at from ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'o.id')} found`,
      ),
      ofOwners(
        ids,
        sql`
        select max(created_at) as saved_at from ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', 'o.id')} c
        where outcome = 'saved'`,
      ),
    ]);
    yield differencesOf('subscriptions', stored, expected);
  }
}

async function compareLedger(sql: Sql | Transaction, shopId: number) {
  const [stored, expected] = await Promise.all([
    sql<Row[]>`
      select concat_ws(' ', grain, bucket, fact) as key,
        concat_ws(' ', count, trim_scale(amount)) as value
      from metric_ledger where shop_id = ${shopId}`,
    sql<Row[]>`
      select concat_ws(' ', grain, bucket, fact) as key, concat_ws(' ', count, amount) as value
      from metric_sums_of(${shopId})`,
  ]);
  return differencesOf('metric_ledger', stored, expected);
}

function differencesOf(
  table: LedgerDifference['table'],
  stored: readonly Row[],
  expected: readonly Row[],
): LedgerDifference[] {
  const [was, shouldBe] = [stored, expected].map(
    (rows) => new Map(rows.map(({ key, value }) => [key, value])),
  ) as [Map<string, string>, Map<string, string>];
  return [...new Set([...was.keys(), ...shouldBe.keys()])]
    .filter((key) => was.get(key) !== shouldBe.get(key))
    .toSorted()
    .map((key) => ({
      table,
      key,
      stored: was.get(key) ?? null,
      expected: shouldBe.get(key) ?? null,
    }));
}

/** Recomputes a shop's stored metrics from its records, in one transaction. */
export async function rebuildMetrics(sql: Sql, shopId: number): Promise<void> {
  await sql`select rebuild_metrics(${shopId}), rebuild_saves(${shopId})`;
}
