import assert from 'node:assert/strict';
import type { Sql } from '../../../src/store/database.ts';
import { run } from '../../cli/process.ts';
import { createShop } from '../../support/world.ts';
import type { Merchant } from './merchant.ts';
import type { Source } from './source.ts';

/** The service with a shop for each merchant whose database it reads as it suggests. */
export function openSuggesting(at: Merchant) {
  const connectTo = async (suggested: string, more: Readonly<Record<string, string>> = {}) => {
    const { id } = await createShop(at.store);
    const ended = await run(['platforms', 'connect', 'postgres', '--shop', String(id)], {
      env: { ...at.env, ...more },
      input: suggested,
    });
    return { id: String(id), ...ended };
  };
  return {
    suggest: ({ url }: Pick<Source, 'url'>) =>
      run(['platforms', 'suggest', 'postgres'], { env: at.env, input: JSON.stringify({ url }) }),
    /** Connects a new shop as suggested. */
    connect: connectTo,
    /** Connects a new shop as suggested, reads everything, and returns what it has. */
    async follow(suggested: string) {
      const { id, code, err } = await connectTo(suggested);
      assert.deepEqual([code, err], [0, '']);
      const synced = await run(['sync', 'postgres', '--shop', id, '--once'], { env: at.env });
      assert.equal(synced.code, 0, synced.err + synced.out);
      return storedIn(at.store.write, id);
    },
  };
}
async function texts(rows: Promise<readonly { readonly text: string }[]>) {
  return (await rows).map(({ text }) => text.replaceAll(/ 00:00:00(?:\.0+)?(?= |$)/g, ''));
}

/** What a shop has, a line a record, in the order of time. */
async function storedIn(sql: Sql, shop: string) {
  return {
    subscriptions: await texts(sql`
      select concat_ws(' ', s.created_at at time zone 'UTC', s.status, s.status_since at time zone 'UTC',
        'for', (select string_agg(concat(l.quantity, ' x ', trim_scale(l.current_price)), ' + ' order by l.position)
          from subscription_lines l where l.shop_id = s.shop_id and l.subscription_id = s.subscription_id),
        'every', p.interval_count, p.interval_unit,
        'trial until ' || (s.trial_ends_at at time zone 'UTC')::text,
        'paid until ' || (s.paid_through_at at time zone 'UTC')::text,
        'next ' || (s.next_billing_at at time zone 'UTC')::text) as text
      from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
      where s.shop_id = ${shop} order by s.created_at`),
    payments: await texts(sql`
      select concat_ws(' ', processed_at at time zone 'UTC', status, trim_scale(amount), failure_code) as text
      from payments where shop_id = ${shop} order by processed_at`),
    refunds: await texts(sql`
      select concat_ws(' ', r.refunded_at at time zone 'UTC', trim_scale(r.amount), 'of', trim_scale(p.amount)) as text
      from refunds r join payments p on p.shop_id = r.shop_id and p.payment_id = r.payment_id
      where r.shop_id = ${shop} order by r.refunded_at`),
  };
}
