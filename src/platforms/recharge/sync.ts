import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import { findMissing } from '../../store/records/export-dates.ts';
import type { Intake } from '../intake.ts';
import { type Making, ListSync } from '../list-sync.ts';
import type { SyncOptions, SyncReport } from '../platform.ts';
import type { RechargeClient } from './client.ts';

/** Changes become visible in another order than their times. */
const overlapMilliseconds = 600_000;

/** The lists that records are made from, in the order in which records refer to each other. */
export const streams = [
  { name: 'subscriptions', types: ['plan', 'subscription'], wholeSeconds: 86_400 },
  { name: 'charges', types: ['payment', 'refund'], wholeSeconds: 604_800 },
] as const;
type Stream = (typeof streams)[number];

interface Store {
  readonly account: string;
  readonly client: RechargeClient;
  readonly currency: string | undefined;
}

/** Reads what changed, and all of the lists that are due. */
export async function syncStore(
  store: Store,
  intake: Intake,
  { full, takeOver }: SyncOptions,
): Promise<SyncReport> {
  const { client } = store;
  const lists = await ListSync.open(intake, 'recharge', store.account);
  await lists.begin(streams, takeOver);
  let isAnyWhole = false;
  for (const stream of streams) {
    const { wholeAt, readAt } = lists.stateOf(stream);
    const isWhole = full || lists.isOlder(wholeAt, stream.wholeSeconds);
    isAnyWhole ||= isWhole;
    const making = makingOf(store, lists, stream, isWhole);
    if (isWhole && stream.name === 'charges') {
      // Charges never go. Noted at the beginning, so that one that is killed goes on where it was.
      await lists.keep(stream, { cursor: null, wholeAt: lists.now() });
    } else if (isWhole && (readAt || takeOver)) {
      // By id: what changes meanwhile keeps its place, and is not missed.
      const all = client.list(stream.name, { sort_by: 'id-asc' });
      await lists.storeWhole(stream, all, making, takeOver);
    }
    await readChanges(client, lists, stream, making);
    if (isWhole) await lists.keep(stream, { wholeAt: lists.now() });
  }
  return lists.report(isAnyWhole ? 'whole' : 'changes');
}

/** Oldest change first, so that one that is interrupted goes on where it was. At first, everything is a change. */
async function readChanges(
  client: RechargeClient,
  lists: ListSync,
  stream: Stream,
  making: Making,
): Promise<void> {
  const { cursor, readAt, rows: before } = lists.stateOf(stream);
  const since = cursor === null ? {} : { updated_at_min: earlier(cursor) };
  let rows = cursor === null ? 0 : before;
  for await (const page of client.list(stream.name, { sort_by: 'updated_at-asc', ...since })) {
    const count = await lists.store(stream, [page], making);
    if (cursor === null || readAt === null) rows += count;
    const last = page.at(-1)?.['updated_at'];
    if (typeof last === 'string') await lists.keep(stream, { cursor: last, rows });
  }
  await lists.keep(stream, { readAt: lists.now() });
}

function makingOf(store: Store, lists: ListSync, { name }: Stream, isWhole: boolean): Making {
  const currencyIn = (column: string) => (object: JsonObject) =>
    (object[column] as string | null | undefined) ?? store.currency;
  return name === 'charges'
    ? {
        mapping: 'recharge-charges',
        currencyOf: currencyIn('currency'),
        prepare: (charges) => withStoredItem(lists, charges),
      }
    : {
        mapping: 'recharge-subscriptions',
        currencyOf: currencyIn('presentment_currency'),
        refusedAs: isWhole ? 'subscription' : undefined,
        prepare: async (subscriptions) => subscriptions.map((each) => toRow(each, lists)),
      };
}

/** A subscription with the columns of Recharge's export file. */
function toRow(subscription: JsonObject, { intake }: ListSync): JsonObject {
  // Outside Shopify, products may have ids of another form, or none.
  const idIn = (name: string) => {
    const { ecommerce: id } = isObject(subscription[name]) ? subscription[name] : {};
    return { [name]: /^[1-9]\d{0,15}$/.test(String(id)) ? id : subscription['id'] };
  };
  return {
    ...subscription,
    ...idIn('external_product_id'),
    ...idIn('external_variant_id'),
    // Those in another one were left out before.
    presentment_currency: intake.shop.currency,
  };
}

/** Charges with one item each: of several subscriptions, the first that is stored. Those for none are left out. */
async function withStoredItem(
  { intake: { sql, shop } }: ListSync,
  charges: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const items = charges.map(({ line_items: all }) =>
    objectsIn(all)
      .filter((each) => each['purchase_item_type'] === 'subscription')
      .map((item) => ({ item, id: Number(item['purchase_item_id']) }))
      .toSorted((one, other) => one.id - other.id),
  );
  const ids = items.flat().map(({ id }) => id);
  const missing = await findMissing(sql, shop.id, 'subscription', ids);
  return charges.flatMap((charge, index) => {
    const own = items[index]?.find(({ id }) => !missing.has(id));
    return own ? [{ ...charge, line_items: [own.item] }] : [];
  });
}

/** A time as Recharge wrote it, some minutes earlier, in the same form: it may have no offset. */
function earlier(time: string): string {
  const hasOffset = /(?:Z|[+-]\d\d:?\d\d)$/.test(time);
  const at = Date.parse(hasOffset ? time : `${time}Z`) - overlapMilliseconds;
  return new Date(at).toISOString().slice(0, 19) + (hasOffset ? '+00:00' : '');
}
