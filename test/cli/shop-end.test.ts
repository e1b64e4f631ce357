import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { FixedClock, systemClock } from '../../src/clock.ts';
import { leftOut } from '../../src/commands/shop-data/export.ts';
import type { Store } from '../../src/store/open.ts';
import { prune, pruneShops } from '../../src/store/retention.ts';
import { listShopTables } from '../../src/store/shop-tables.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { createShop, createTestKey, importAll, silentLog } from '../support/world.ts';
import { installation } from '../../src/store/owners/audit.ts';
import { auditOf } from '../support/audit.ts';
import { findEverywhere } from '../webhooks/search.ts';
import { run, throwawayFolder } from './process.ts';
import { createFilledShop, runTo } from './shop-data.ts';

onOneOwnDatabase('the end of a shop’s data, on the command line', (open, targetOf) => {
  let store: Store;
  const folder = throwawayFolder();
  const uploads = path.join(folder, 'uploads');
  const endAt = systemClock.now();
  const envOf = () => ({ DATABASE_URL: targetOf(), LOG_LEVEL: 'warn', UPLOAD_DIR: uploads });
  const ended = (status: number, ...args: string[]) => runTo(status, args, envOf());
  const fill = (subscriptions: number) => createFilledShop(store, subscriptions, endAt);
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('keeps records for a time only', async () => {
    const shop = await createShop(store);
    const monthsAgo = (months: number) => {
      const at = new Date(endAt);
      at.setUTCMonth(at.getUTCMonth() - months);
      return at.toISOString();
    };
    const ofSubscription = (id: number, endedAt: string | undefined) =>
      subscription(id, {
        customerId: id,
        createdAt: monthsAgo(50),
        updatedAt: monthsAgo(50),
        ...(endedAt && { status: 'cancelled', statusEvents: [{ at: endedAt, to: 'cancelled' }] }),
      });
    const paid = (
      id: number,
      subscriptionId: number,
      processedAt: string,
      status = 'succeeded',
    ) => ({
      type: 'payment',
      id,
      subscriptionId,
      cycle: String(id),
      status,
      amount: 5,
      processedAt,
    });
    const session = (id: number, subscriptionId: number, createdAt: string) => ({
      type: 'cancellation',
      id,
      subscriptionId,
      detectedReason: 'other',
      outcome: 'saved',
      createdAt,
    });
    const { refused } = await importAll(
      store,
      shop,
      [
        plan(),
        // Long gone; paid within the period; refunded within it; live, and owing since long ago; live.
        ...[1, 2, 3].map((id) => ofSubscription(id, monthsAgo(40))),
        ...[4, 5].map((id) => ofSubscription(id, undefined)),
        paid(1, 1, monthsAgo(45)),
        paid(2, 2, monthsAgo(30)),
        paid(3, 3, monthsAgo(45)),
        { type: 'refund', id: 3, paymentId: 3, amount: 5, refundedAt: monthsAgo(1) },
        paid(4, 4, monthsAgo(45), 'failed'),
        paid(5, 5, monthsAgo(45)),
        paid(6, 5, monthsAgo(1)),
        session(1, 1, monthsAgo(41)),
        session(5, 5, monthsAgo(41)),
        session(6, 5, monthsAgo(2)),
      ],
      false,
      new FixedClock(endAt),
    );
    assert.deepEqual(refused, []);
    const idsOf = async () => {
      const [found] = await store.write`
        select array(select subscription_id from subscriptions where shop_id = ${shop.id} order by 1)::text as subscriptions,
          array(select payment_id from payments where shop_id = ${shop.id} order by 1)::text as payments,
          array(select session_id from cancellation_sessions where shop_id = ${shop.id} order by 1)::text as sessions,
          array(select customer_id from customers where shop_id = ${shop.id} order by 1)::text as customers`;
      return Object.values(found ?? {});
    };
    const sweep = () => pruneShops(store.write, new FixedClock(endAt), silentLog);
    const all = ['{1,2,3,4,5}', '{1,2,3,4,5,6}', '{1,5,6}', '{1,2,3,4,5}'];
    const keep = ['shops', 'keep', `--id=${shop.id}`, '--keep', '36 months'];
    const rehearsed = await ended(0, ...keep, '--dry-run', '--json');
    const older = { subscription: 1, payment: 2, cancellation: 2 };
    assert.deepEqual(JSON.parse(rehearsed.out).older, older);
    await sweep();
    assert.deepEqual(await idsOf(), all);

    await ended(0, ...keep, '--types=cancellation');
    const { out } = await ended(0, 'shops', 'list', '--json');
    const listed = JSON.parse(out).find(({ id }: { id: number }) => id === shop.id);
    assert.deepEqual(listed.keepMonths, { cancellation: 36 });
    await sweep();
    assert.deepEqual(await idsOf(), [all[0], all[1], '{6}', all[3]]);
    await ended(0, ...keep);
    await sweep();
    // The payment of the long gone subscription went with it.
    assert.deepEqual(await idsOf(), ['{2,3,4,5}', '{2,3,4,6}', '{6}', '{2,3,4,5}']);
    await ended(0, 'shops', 'keep', `--id=${shop.id}`, '--keep=forever', '--types=payment');
    const shown = await ended(0, 'shops', 'keep', `--id=${shop.id}`);
    assert.match(shown.out, /subscription: kept for 36 months; 0 older\n {2}payment: kept forever/);
    assert.match(
      (await ended(2, ...keep.slice(0, 3), '--keep=soon')).err,
      /must be a period such as/,
    );
    assert.match(
      (await ended(2, ...keep.slice(0, 3), '--types=payment')).err,
      /--types needs --keep/,
    );
  });

  test('ends at Ctrl-C as any process does, instead of reporting an error of its own', async () => {
    const shop = await createShop(store);
    const keep = ['shops', 'keep', `--id=${shop.id}`, '--keep', '36 months', '--dry-run'];
    const { code, err } = await run(keep, { env: envOf(), signal: 'SIGINT' });
    assert.deepEqual([code, err], [0, 'This was a dry run: nothing was changed.\n']);
  });

  test('keeps what is younger than a month that ends on a shorter one’s last day', async () => {
    const shop = await createShop(store);
    // Of the months that end on 31 March, the last one is February.
    const createdAt = ['2026-02-27T23:00:00Z', '2026-02-28T13:00:00Z'];
    const sessions = createdAt.map((at, index) => ({
      type: 'cancellation',
      id: index + 1,
      detectedReason: 'other',
      outcome: 'saved',
      createdAt: at,
    }));
    const end = Date.parse('2026-03-31T12:00:00Z');
    const { refused } = await importAll(store, shop, sessions, false, new FixedClock(end));
    assert.deepEqual(refused, []);
    const counts = await prune(
      store.write,
      shop.id,
      { cancellation: 1 },
      { now: end, isDryRun: true },
    );
    assert.deepEqual(counts, { cancellation: 1 });
  });

  test('deletes a shop, and all that names it', async () => {
    const shop = await fill(60);
    const other = await fill(20);
    const name = `shop-${randomUUID()}`;
    await store.write`update shops set name = ${name} where shop_id = ${shop.id}`;
    const { id: keyId } = await createTestKey(store, shop.id);
    const [{ hash } = { hash: '' }] = await store.write<{ hash: string }[]>`
      select encode(hash, 'hex') as hash from api_keys where shop_id = ${shop.id}`;
    await ended(0, 'owners', 'invite', `--shop=${shop.id}`, '--email=only@example.com');
    for (const { id } of [shop, other]) {
      await ended(0, 'owners', 'invite', `--shop=${id}`, '--email=both@example.com');
    }
    await ended(0, 'ingest', 'create', `--shop=${shop.id}`, '--name=Test');
    await ended(0, 'customer-key', `--shop=${shop.id}`);
    mkdirSync(uploads, { recursive: true });
    const ofShop = (id: number) => path.join(uploads, `${id}-${randomUUID()}`);
    const [file, kept] = [`${ofShop(shop.id)}.gz`, ofShop(other.id)];
    for (const each of [file, kept]) appendFileSync(each, 'x');
    const others = (await findEverywhere(store, other.id)).length;

    const explained = await ended(1, 'shops', 'delete', `--id=${shop.id}`);
    assert.match(
      explained.err,
      /Nothing was deleted\. Shop \d+ \(shop-[^)]+\) has \d+ plan records, 60 subscription records, /,
    );
    assert.match(explained.err, /1 API keys, .*1 push sources.* Add --yes to delete it\./);
    assert.ok((await findEverywhere(store, shop.id)).length > 500);

    // Stopped in the middle: nothing is stored for it any more, and a second run ends it.
    const args = ['shops', 'delete', `--id=${shop.id}`, '--yes'];
    const stopped = await run(args, { env: envOf(), signal: 'SIGTERM' });
    assert.equal(stopped.code, 143, stopped.err);
    const again = await ended(1, 'import', `--shop=${shop.id}`, '-');
    assert.match(
      again.err,
      /is being deleted\. Run "retention shops delete --id \d+ --yes" to finish that\./,
    );
    await assert.rejects(
      importAll(store, shop, [plan()]),
      /There is no shop \d+, or it is being deleted\./,
    );
    const { out } = await ended(0, ...args, '--json');
    assert.deepEqual(JSON.parse(out), { id: shop.id, deleted: true });
    for (const trace of [name, keyId, hash, 'only@example.com']) {
      assert.deepEqual(await findEverywhere(store, trace), [], String(trace));
    }
    // The entry that says so, in the installation's chain.
    assert.deepEqual(await findEverywhere(store, shop.id), ['public.audit_entries']);
    const entries = await auditOf(store.write, installation, 'shop_deleted');
    assert.deepEqual(
      entries.filter(({ target }) => target === String(shop.id)).map(({ who }) => who),
      ['command line'],
    );
    assert.ok(!existsSync(file) && existsSync(kept));
    assert.equal((await findEverywhere(store, other.id)).length, others);
    assert.notDeepEqual(await findEverywhere(store, 'both@example.com'), []);
    assert.match((await ended(1, ...args)).err, /There is no shop/);
  });

  test('knows all tables with rows of shops', async () => {
    const [one, two] = [await createShop(store), await createShop(store)];
    const tables = await listShopTables(store.write);
    const checks = await store.write<{ name: string; table: string }[]>`
      select conname as name, conrelid::regclass::text as table from pg_constraint
      where contype = 'c' and conrelid <> 0`;
    for (const { name, table } of checks) {
      await store.write.unsafe(`alter table ${table} drop constraint "${name}"`);
    }
    for (const { name } of tables.filter((table) => table.name !== 'shops')) {
      for (const { id } of [one, two]) await insertAnything(store, name, id);
    }
    await ended(0, 'shops', 'delete', `--id=${one.id}`, '--yes');
    for (const { name } of tables) {
      const rows = await store.write.unsafe<{ id: number }[]>(
        `select shop_id as id from ${name} where shop_id = any ($1::text::bigint[])`,
        [`{${one.id},${two.id}}`],
      );
      assert.deepEqual([...rows], [{ id: two.id }], name);
    }
    // What is not exported is said; the rest is records, what follows from them, or of requests and syncs.
    const known = Object.keys(leftOut);
    assert.deepEqual(
      known.filter((name) => !tables.some((table) => table.name === name)),
      [],
    );
    const silent = tables.map(({ name }) => name).filter((name) => !known.includes(name));
    const expected =
      'audit_entries audit_heads cancellation_sessions customer_keys customer_values customers departures dunning_cases' +
      ' failed_cycles feeds ingest.remembered_answers key_uses metric_ledger metric_shops owners.events owners.links' +
      ' owners.notifications owners.shop_policies payments plans platforms.streams platforms.syncs price_changes refunds request_batches' +
      ' request_counts request_log shopify.data_requests shopify.shops shopify_syncs shops' +
      ' snapshot_dates source_ids status_events subscriber_changes subscription_lines subscription_values' +
      ' subscriptions superseded_facts';
    assert.equal(silent.join(' '), expected);
  });
});

/** A row of a table with a value of each column's type. */
async function insertAnything(store: Store, table: string, shopId: number): Promise<void> {
  const columns = await store.write<{ name: string; type: string }[]>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      and attname <> 'moving_to'`;
  const valueOf = (type: string) => {
    if (type.endsWith('[]')) return "'{}'";
    if (type === 'jsonb') return "'[]'";
    if (type === 'bytea') return `'\\x${shopId.toString(16).padStart(64, '0')}'`;
    if (type === 'uuid') return 'gen_random_uuid()';
    if (type.startsWith('timestamp')) return 'now()';
    if (type === 'boolean') return 'false';
    return /^(?:text|xid8)/.test(type) ? `'${shopId}'` : '1';
  };
  const values = columns.map(({ name, type }) =>
    name === 'shop_id' ? String(shopId) : valueOf(type),
  );
  const names = columns.map(({ name }) => `"${name}"`);
  await store.write.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica');
    await tx.unsafe(
      `insert into ${table} (${names.join(', ')}) overriding system value values (${values.join(', ')})`,
    );
  });
}
