import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { systemClock } from '../../src/clock.ts';
import { secretSealing } from '../../src/push/sources.ts';
import type { Store } from '../../src/store/open.ts';
import { createTestKey } from '../support/world.ts';
import { run } from './process.ts';
import { createFilledShop } from './shop-data.ts';

/** A shop with rows in every table. */
export async function fillEveryTable(store: Store, env: Readonly<Record<string, string>>) {
  const shop = await createFilledShop(store, 60, systemClock.now());
  const { id } = shop;
  const { id: keyId, key } = await createTestKey(store, id);
  for (const args of [
    ['owners', 'invite', `--shop=${id}`, `--email=o${id}@example.com`],
    ['ingest', 'create', `--shop=${id}`, '--name=Test'],
    ['customer-key', `--shop=${id}`],
  ]) {
    const { code, err } = await run(args, { env });
    assert.equal(code, 0, err);
  }
  const sealed = (context: string) =>
    secretSealing([Buffer.from(env['CREDENTIALS_KEY'] ?? '', 'base64')]).seal('secret', context);
  const { write: sql } = store;
  const [owner] = await sql<{ id: string }[]>`
    select owner_id as id from owners.links where shop_id = ${id}`;
  const ownerId = owner?.id ?? '';
  const [first] = await sql<{ id: number }[]>`
    select subscription_id as id from subscriptions where shop_id = ${id} order by 1 limit 1`;
  const subscriptionId = first?.id ?? 0;
  await sql`insert into owners.memberships (owner_id, shop_id, created_at) values (${ownerId}, ${id}, now())`;
  await sql`
    insert into owners.notifications (owner_id, shop_id, digest, unusual, min_mrr, unsubscribe_secret, digest_until, alerts_until)
    values (${ownerId}, ${id}, true, false, 12.50, ${randomUUID()}, now(), now())`;
  await sql`insert into owners.segments (shop_id, name, query) values (${id}, 'Gold', 'plan=1')`;
  await sql`insert into owners.events (shop_id, at, kind, detail) values (${id}, now(), 'alert', 'x')`;
  await sql`insert into owners.shop_policies (shop_id, requires_second_factor) values (${id}, true)`;
  await sql`
    insert into owners.sso_providers (shop_id, issuer, client_id, client_secret, domain, verification)
    values (${id}, 'https://issuer.example', 'c', ${sealed(`single sign-on of shop ${id}`)}, 'shop.example', 'v')`;
  await sql`
    insert into platforms.connections (shop_id, platform, account, credentials, connected_at)
    values (${id}, 'stripe', ${`acct_${id}`}, ${sealed(`stripe of shop ${id}`)}, now())`;
  await sql`
    insert into platforms.streams (shop_id, stream, account, types, platform, cursor)
    values (${id}, 's', 'a', '{plan,payment}', 'stripe', '{"after":1}')`;
  await sql`insert into platforms.syncs (shop_id, platform, due_at) values (${id}, 'stripe', now())`;
  await sql`
    insert into ingest.batches (shop_id, source_id, batch_id, digest, received_at, outcomes, refused, finished_at)
    select ${id}, source_id, gen_random_uuid(), 'd', now(), '[]', '[]', now()
    from ingest.sources where shop_id = ${id}`;
  await sql`insert into ingest.remembered_answers (shop_id, headings, answers, saved_at) values (${id}, 'h', '{}', now())`;
  await sql`
    insert into ingest.uploads (shop_id, upload_id, file_name, bytes, received_at, state)
    values (${id}, gen_random_uuid(), 'a.csv', 1, now(), 'done')`;
  await sql`insert into shopify.shops (shop_id, domain) values (${id}, ${`${id}.myshopify.com`})`;
  await sql`
    insert into shopify.data_requests (shop_id, request_id, customer_id, received_at)
    values (${id}, gen_random_uuid(), 1, now())`;
  await sql`insert into shopify_syncs (shop_id, domain) values (${id}, 'x.myshopify.com')`;
  await sql`
    insert into contacted_cases (shop_id, subscription_id, opened_at, contacted_at, contacted_by)
    values (${id}, ${subscriptionId}, now(), now(), 'owner')`;
  await sql`insert into redacted_customers (shop_id, customer_hash) values (${id}, ${`\\x${randomBytes(32).toString('hex')}`}::bytea)`;
  await sql`insert into export_dates (shop_id, kind, id, exported_at) values (${id}, 'plan', 1, now())`;
  await sql`insert into snapshot_dates (shop_id, kind, exported_at) values (${id}, 'plan', now())`;
  await sql`insert into source_ids (shop_id, kind, id, source_id) values (${id}, 'customer', 9, 'cus_9')`;
  await sql`insert into key_uses (shop_id, key_id, last_used_at) values (${id}, ${keyId}, now())`;
  await sql`
    insert into request_batches (shop_id, last_at, batch_id, requests, at, request_id, key_id, transport, operation, status, microseconds, dropped)
    values (${id}, now(), gen_random_uuid(), 1, array[now()], array[gen_random_uuid()], array[${keyId}], '{rest}', '{x}', '{200}', '{1}', '{0}')`;
  await sql`
    insert into request_counts (shop_id, key_id, hour, operation, status, requests)
    values (${id}, ${keyId}, now(), 'x', 200, 1)`;
  await sql`
    insert into request_log (shop_id, at, request_id, key_id, transport, operation, status, microseconds, dropped)
    values (${id}, now(), gen_random_uuid(), ${keyId}, 'rest', 'x', 200, 1, 0)`;
  return { id, key };
}
