/* A shop of 100,000 subscriptions moves while it is read and written, and moves that are killed at any moment. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/clock.ts';
import { type Store, connectAll } from '../src/store/open.ts';
import { listShopTables } from '../src/store/shop-tables.ts';
import { launch, launchServer } from '../test/cli/process.ts';
import { createFilledShop } from '../test/cli/shop-data.ts';
import { plan, subscription } from '../test/rest/records.ts';
import { serverUrl } from '../test/support/databases.ts';
import { createServerDatabase } from '../test/support/own-databases.ts';
import { createShop, createTestKey, get, importAll } from '../test/support/world.ts';

const subscriptions = Number(process.env['MOVED_SUBSCRIPTIONS'] ?? 100_000);
const requestsPerSecond = 200;
const kills = 10;

const day = 86_400_000;

/** Subscriptions with two payments each. */
function recordsFrom(first: number, end: number): object[] {
  const now = systemClock.now();
  const ago = (days: number) => new Date(now - days * day).toISOString();
  const ids = Array.from({ length: end - first }, (_, index) => first + index);
  return [
    ...(first === 1 ? [plan()] : []),
    ...ids.map((id) =>
      subscription(id, { customerId: id, createdAt: ago(60 + (id % 300)), updatedAt: ago(1) }),
    ),
    ...ids.flatMap((id) =>
      [0, 1].map((cycle) => ({
        type: 'payment',
        id: id * 2 + cycle,
        subscriptionId: id,
        cycle: String(cycle),
        status: 'succeeded',
        amount: 5,
        processedAt: ago(30 * cycle + 1),
      })),
    ),
  ];
}

describe('moves', { skip: serverUrl === undefined, timeout: 3_600_000 }, () => {
  const databases: Awaited<ReturnType<typeof createServerDatabase>>[] = [];
  const stores: Store[] = [];
  const placesFrom = (from: number) => ({
    DATABASE_URL: databases[from]?.target ?? '',
    OTHER: databases[1 - from]?.target ?? '',
    LOG_LEVEL: 'warn',
  });
  const moving = (id: number) => ['shops', 'move', `--id=${id}`, '--to=env:OTHER'];
  before(async () => {
    for (const each of [0, 1]) {
      const database = await createServerDatabase();
      databases.push(database);
      stores[each] = { ...connectAll(database.target), failed: new Promise<Error>(() => {}) };
    }
  });
  after(async () => {
    for (const store of stores) await store.close();
    for (const database of databases) await database.drop();
  });

  test('a large shop is served until the last moment', async (t) => {
    const [here, there] = stores;
    assert.ok(here && there);
    const shop = await createShop(here);
    for (let first = 1; first <= subscriptions; first += 5_000) {
      await importAll(here, shop, recordsFrom(first, first + 5_000), true, systemClock);
    }
    const { key } = await createTestKey(here, shop.id);
    const servers = [
      await launchServer('serve', placesFrom(0)),
      await launchServer('serve', placesFrom(1)),
    ];
    const [{ id } = { id: 0 }] = await here.write<{ id: number }[]>`
      select subscription_id as id from subscriptions where shop_id = ${shop.id} order by 1 limit 1`;
    const urls = servers.map(({ baseUrl }) => `${baseUrl}/api/external/v1/subscriptions/${id}`);
    const read = async (place: number) => {
      const { status, body } = await get(urls[place] ?? '', key);
      return { status, body: JSON.stringify(body) };
    };
    const expected = await read(0);
    assert.equal(expected.status, 200);

    let place = 0;
    const run = { isOver: false };
    const counts = new Map<string, number>();
    const wrong: string[] = [];
    const note = async (answer: ReturnType<typeof read>) => {
      const { status, body } = await answer;
      if (status === 401 && place === 0) place = 1;
      counts.set(`${status}`, (counts.get(`${status}`) ?? 0) + 1);
      if (status === 200 ? body !== expected.body : status !== 401) wrong.push(body);
    };
    const readAlways = async () => {
      for (let next = systemClock.monotonic(); !run.isOver; next += 1000 / requestsPerSecond) {
        await sleep(Math.max(0, next - systemClock.monotonic()));
        void note(read(place));
      }
    };
    let longestWait = 0;
    let written = 0;
    const writeAlways = async () => {
      for (let name = 0; !run.isOver; name += 1) {
        const startedAt = systemClock.monotonic();
        const store = place === 0 ? here : there;
        const record = {
          ...plan(),
          id: 77,
          name: `Plan ${name}`,
          updatedAt: new Date(systemClock.now()).toISOString(),
        };
        const outcome = await importAll(store, shop, [record], true, systemClock).catch(
          (error: Error) => error,
        );
        longestWait = Math.max(longestWait, systemClock.monotonic() - startedAt);
        if (!(outcome instanceof Error)) written += 1;
        else if (!/has moved|no shop|being moved|has begun/.test(outcome.message)) throw outcome;
        await sleep(50);
      }
    };
    const work = Promise.all([readAlways(), writeAlways()]);
    await sleep(1_000);
    const startedAt = systemClock.monotonic();
    const { code, err } = await launch(moving(shop.id), { env: placesFrom(0) }).ended;
    const seconds = (systemClock.monotonic() - startedAt) / 1_000;
    await sleep(3_000);
    run.isOver = true;
    await work;
    assert.equal(code, 0, err);
    assert.deepEqual(wrong, []);
    assert.equal(place, 1);
    assert.equal((await read(1)).status, 200);
    const [left] = await here.write`select from shops where shop_id = ${shop.id}`;
    assert.equal(left, undefined);
    t.diagnostic(
      `moved in ${seconds.toFixed(1)} s; answers ${JSON.stringify([...counts])}; ${written} imports, of which the slowest took ${longestWait.toFixed(0)} ms`,
    );
    for (const { child, ended } of servers) {
      child.kill('SIGTERM');
      await ended;
    }
  });

  test('killed at any moment, a shop ends whole in one place', async (t) => {
    const [first] = stores;
    assert.ok(first);
    const shop = await createFilledShop(first, 300, systemClock.now());
    await createTestKey(first, shop.id);
    const tables = await listShopTables(first.write);
    const digest = async (place: number) => {
      const found: string[] = [];
      for (const { name, columns } of tables) {
        if (/^audit_|^metric_shops/.test(name)) continue;
        const all = columns.map((column) => `"${column}"`).join(', ');
        const [row] =
          (await stores[place]?.write.unsafe<{ digest: string; rows: number }[]>(
            `select count(*) as rows, md5(string_agg(row(${all})::text, '|' order by row(${all})::text)) as digest
           from ${name} where shop_id = $1`,
            [shop.id],
          )) ?? [];
        if (row && row.rows > 0) found.push(`${name} ${row.digest}`);
      }
      return found;
    };
    const whole = await digest(0);
    const startedAt = systemClock.monotonic();
    await launch(moving(shop.id), { env: placesFrom(0) }).ended;
    const usualMilliseconds = Math.ceil(systemClock.monotonic() - startedAt);
    let place = 1;
    const moments: string[] = [];
    for (let round = 0; round < kills;) {
      const env = placesFrom(place);
      const { child, ended } = launch(moving(shop.id), { env });
      const delay = randomInt(Math.ceil(usualMilliseconds / 2), usualMilliseconds);
      await sleep(delay);
      child.kill('SIGKILL');
      const { signal } = await ended;
      if (signal === 'SIGKILL') {
        const [from, to] = [stores[place], stores[1 - place]];
        assert.ok(from && to);
        const [mark] = await from.write<{ address: string | null }[]>`
          select moving_to as address from metric_shops where shop_id = ${shop.id}`;
        const arrived = await to.write`select from shops where shop_id = ${shop.id}`;
        const how = !mark ? 'left' : mark.address ? 'leaving' : 'before';
        moments.push(`${delay} ms (${how}${arrived.length > 0 ? ', arrived' : ''})`);
        round += 1;
        const again = await launch(moving(shop.id), { env }).ended;
        // It may have been over.
        if (again.code !== 0) assert.match(again.err, /has moved to/);
      }
      assert.deepEqual(await digest(1 - place), whole);
      assert.deepEqual(await digest(place), []);
      place = 1 - place;
    }
    t.diagnostic(moments.join(', '));
  });
});
