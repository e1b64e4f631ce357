import { FixedClock } from '../../../src/clock.ts';
import { importShopOf } from '../../../src/ingest/apply.ts';
import type { Log } from '../../../src/log/log.ts';
import { Catalogue } from '../../../src/platforms/stripe/catalogue.ts';
import { openClient } from '../../../src/platforms/stripe/client.ts';
import { StripeSync } from '../../../src/platforms/stripe/sync.ts';
import type { Store } from '../../../src/store/open.ts';
import { upsertConnection } from '../../../src/store/feeds/platforms.ts';
import { listStreams, upsertStreams } from '../../../src/store/feeds/streams.ts';
import { findShop } from '../../../src/store/shops.ts';
import type { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { createShop, silentLog } from '../../support/world.ts';

interface Options {
  readonly currency?: string;
  readonly seesCustomers?: boolean;
  readonly key?: string;
  readonly log?: Log;
}

/** No waiting, and the largest that is random. */
const backoff = { wait: async () => {}, random: () => 0.99 };

/** A shop that is synced with an account of the stand-in. */
export async function openSynced(
  store: Store,
  stripe: StripeStandIn,
  clock: FixedClock,
  { currency = 'USD', seesCustomers = true, key = stripe.key, log = silentLog }: Options = {},
) {
  const shop = await createShop(store, { currency });
  const row = await findShop(store.write, shop.id);
  if (!row) throw new Error('There is no such shop.');
  const account = 'acct_1 (test)';
  const client = openClient(key, stripe.baseUrl, { clock, backoff });
  const catalogue = new Catalogue(client, clock);
  const connectedAt = new Date(clock.now());
  await store.write.begin((tx) =>
    upsertConnection(tx, 'stripe', {
      shopId: shop.id,
      account,
      isShared: true,
      credentials: '',
      connectedAt,
    }),
  );
  const intake = { sql: store.write, shop: importShopOf(row), feed: 'stripe', clock, log };
  const open = () => StripeSync.open({ account, client, catalogue, seesCustomers }, intake);
  const sync = async (options: { full?: boolean; takeOver?: boolean } = {}) =>
    (await open()).run({ full: false, takeOver: false, ...options });
  return {
    shop,
    account,
    sync,
    /** Reads events and what they are about, but no list: none is due, as if all had just been read. */
    async syncEvents() {
      const now = new Date(clock.now());
      const streams = await listStreams(store.write, shop.id, 'stripe');
      const lists = streams.filter(({ stream }) => stream !== 'events');
      const read = lists.map((each) => ({ ...each, readAt: now, wholeAt: now }));
      await upsertStreams(store.write, shop.id, 'stripe', read);
      return sync();
    },
    follow: async (kind: string, id: string, at?: number) =>
      (await open()).follow({ kind, id, ...(at !== undefined && { at }) }),
  };
}

/**
 * What a shop has now, without how it came there. Until when was paid for what has ended, Stripe says only before.
 */
export async function recordsOf(store: Store, shopId: number, now: Date) {
  const sql = store.write;
  const [plans, subscriptions, payments, refunds] = await Promise.all([
    sql`select plan_id, name, interval_unit, interval_count from plans where shop_id = ${shopId} order by plan_id`,
    sql`
      select s.subscription_id, customer_id, plan_id, status, s.current_price, created_at, next_billing_at,
        case when paid_through_at > ${now} then paid_through_at end as paid_through_at, trial_ends_at, (
          select json_agg(json_build_object('product', l.product_id, 'title', l.product_title, 'price', l.current_price,
            'quantity', l.quantity, 'unit', l.interval_unit, 'count', l.interval_count) order by l.position)
          from subscription_lines l where l.shop_id = s.shop_id and l.subscription_id = s.subscription_id
        ) as lines
      from subscriptions s where shop_id = ${shopId} order by subscription_id`,
    sql`
      select payment_id, subscription_id, cycle, status, amount, processed_at
      from payments where shop_id = ${shopId} order by payment_id`,
    sql`
      select refund_id, payment_id, amount, refunded_at from refunds where shop_id = ${shopId} order by refund_id`,
  ]);
  return {
    plans: [...plans],
    subscriptions: [...subscriptions],
    payments: [...payments],
    refunds: [...refunds],
  };
}

/** What each subscription was worth, such as `2026-01-31 20 month 1`, the earliest subscription first. */
export async function valuesOf(store: Store, shopId: number): Promise<string[][]> {
  const rows = await store.write<{ billed: string; price: string; past: string | null }[]>`
    select p.interval_unit || ' ' || p.interval_count as billed, s.current_price as price, (
      select json_agg(json_build_array(
        case when since > '-infinity' then to_char(since at time zone 'utc', 'YYYY-MM-DD') end, amounts) order by since)
      from values_of(s.past_values)
    ) as past
    from subscriptions s
    join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
    where s.shop_id = ${shopId} order by s.created_at`;
  return rows.map(({ billed, price, past }) => {
    const values: [string | null, Record<string, string>][] = (past as never) ?? [
      [null, { '': String(Number(price)) }],
    ];
    return values.map(([since, amounts]) =>
      [
        since ?? 'first',
        ...Object.entries(amounts).map(([each, sum]) => `${sum} ${each || billed}`),
      ].join(' '),
    );
  });
}
