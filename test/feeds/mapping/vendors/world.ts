import { readFileSync } from 'node:fs';
import path from 'node:path';
import { toSummary } from '../../../../src/metrics/figures.ts';
import { summariseMetrics } from '../../../../src/metrics/summary.ts';
import type { Store } from '../../../../src/store/open.ts';
import { root } from '../../../cli/process.ts';
import { type TestShop, now } from '../../../support/world.ts';
import { importMapped } from '../mapped.ts';

export const sampleOf = (file: string) =>
  path.join(root, 'test/feeds/mapping/vendors/samples', file);

/** Imports a vendor's sample by a shipped mapping; both without the folder. */
export function importSample(store: Store, shop: TestShop, mapping: string, file: string) {
  const text = readFileSync(path.join(root, 'mappings', `${mapping}.json`), 'utf8');
  return importMapped(store, shop, text, sampleOf(file));
}

const text = async (rows: Promise<readonly { text: string }[]>) =>
  (await rows).map((row) => row.text);

/** What a shop has, as readable texts: derived ids appear as what they refer to. */
export async function worldOf(store: Store, shopId: number) {
  const sql = store.write;
  return {
    plans: await text(sql`
      select concat_ws(' ', name || ':', plan_type, interval_count, interval_unit,
        case when not active then 'inactive' end) as text
      from plans where shop_id = ${shopId} order by name collate "C"`),
    subscriptions: await text(sql`
      select concat(p.name, ' ', s.status, ' ', s.current_price,
          to_char(s.created_at at time zone 'UTC', '" created "YYYY-MM-DD HH24:MI'),
          to_char(s.next_billing_at at time zone 'UTC', '" next "YYYY-MM-DD HH24:MI'),
          to_char(s.paid_through_at at time zone 'UTC', '" paid "YYYY-MM-DD HH24:MI'), ' = ',
          (select string_agg(concat(quantity, ' ', product_title,
              case when variant_title <> '' then '/' || variant_title end, ' ', l.current_price),
              ' + ' order by position)
            from subscription_lines l
            where l.shop_id = s.shop_id and l.subscription_id = s.subscription_id),
          (select string_agg(concat(' ', to_status,
              to_char(at at time zone 'UTC', '" "YYYY-MM-DD HH24:MI')), ',' order by position)
            from status_events e
            where e.shop_id = s.shop_id and e.subscription_id = s.subscription_id)) as text
      from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
      where s.shop_id = ${shopId} order by s.created_at, s.status, 1`),
    payments: await text(sql`
      select concat(to_char(p.processed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ' ',
          p.status, ' ', p.amount, ' cycle ', cycle,
          to_char(s.created_at at time zone 'UTC', '" of "YYYY-MM-DD'),
          ' because of ' || p.failure_code) as text
      from payments p join subscriptions s
        on s.shop_id = p.shop_id and s.subscription_id = p.subscription_id
      where p.shop_id = ${shopId} order by p.processed_at`),
    refunds: await text(sql`
      select concat(to_char(r.refunded_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ' ', r.amount,
          to_char(p.processed_at at time zone 'UTC', '" of "YYYY-MM-DD')) as text
      from refunds r join payments p on p.shop_id = r.shop_id and p.payment_id = r.payment_id
      where r.shop_id = ${shopId} order by r.refunded_at`),
    sessions: await text(sql`
      select concat(to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ' ', detected_reason,
          ' ', coalesce(offer_type, 'no offer'), ' ', coalesce(outcome, 'in progress'),
          case when subscription_id is not null then ' linked' end) as text
      from cancellation_sessions where shop_id = ${shopId} order by created_at, 1`),
  };
}

/** The figures of a shop that are not 0. */
export async function figuresOf(store: Store, shop: TestShop) {
  // A minute later, since windows exclude their end.
  const at = Date.parse(now) + 60_000;
  const row = await summariseMetrics(store.primary.analyse, shop.id, at);
  const { generatedAt: _, currency: __, ...figures } = toSummary(row, shop.currency, at);
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== 0));
}
