import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/clock.ts';
import { generateShop } from '../src/demo/generate.ts';
import { listKeys } from '../src/store/keys/keys.ts';
import { type Store, connectAll } from '../src/store/open.ts';
import { type Ended, launchServer, runProcess, throwawayFolder } from '../test/cli/process.ts';
import { startStandIn } from '../test/feeds/shopify/stand-in.ts';
import { StandInWorld } from '../test/feeds/shopify/stand-in-world.ts';
import { assertSameShop } from '../test/model/dump.ts';
import { type Visitor, signedInOwner } from '../test/owner/visitor.ts';
import { openClient } from '../test/support/client.ts';
import { until } from '../test/support/until.ts';
import { type TestShop, createShop, createTestKey, get, importAll } from '../test/support/world.ts';
import { putContract } from '../test/webhooks/source.ts';
import { secret, sendWebhook, untilQuiet, writeCredentials } from '../test/webhooks/world.ts';
import { type Target, type Traffic, startTraffic } from '../test/support/traffic.ts';

/** Matches API keys and the password of DATABASE_URL. */
export const secrets = /rtn_[\w-]{8}|sesame/;
const domain = 'sample-shop.myshopify.com';
const until2025 = { endAt: Date.parse('2025-01-01'), currency: 'USD', minorDigits: 2 };
/** Enough records that an import spends most of its time in its transaction. */
const records = [...generateShop({ ...until2025, subscriptions: 700, seed: 11 })];

/** The result of a form that an owner submitted to create a key. */
export interface KeyForm {
  readonly id: string;
  readonly status: number;
  readonly key: string | undefined;
}

interface Place {
  /** The address that the service and the commands use. */
  readonly databaseUrl: string;
  /** The address that this test uses for the same database. */
  readonly directUrl: string;
}

/**
 * Continuously runs everything in separate processes: `serve` with API traffic, an owner who creates
 * keys, webhooks and their jobs, and the commands `import` and `sync shopify`.
 */
export async function startWork({ databaseUrl, directUrl }: Place) {
  const standIn = await startStandIn(new StandInWorld());
  standIn.bulk.polls = 1;
  standIn.world.contractsPerPage = 50;
  const setUp: Store = { ...connectAll(directUrl), failed: new Promise(() => {}) };
  const newShop = (store = setUp) => createShop(store);
  const [shown, whole, atShopify] = [await newShop(), await newShop(), await newShop()];
  await importAll(setUp, shown, [...generateShop({ ...until2025, subscriptions: 40, seed: 3 })]);
  await importAll(setUp, whole, records);
  const keys = await Promise.all([1, 2].map(() => createTestKey(setUp, shown.id)));

  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl.replace('postgres@', 'postgres:sesame@'),
    LOG_LEVEL: 'warn',
    SHOPIFY_CLIENT_SECRET: secret,
    SHOPIFY_CREDENTIALS_FILE: writeCredentials([{ shop: atShopify, domain }], standIn),
  };
  const server = await launchServer('serve', env);
  const { baseUrl } = server;
  const place = { store: setUp, clock: systemClock, service: server, shop: shown };
  const { visitor } = await signedInOwner(place);
  const target: Target = { name: 'serve', baseUrl, state: 'up' };
  const traffic: Traffic = await startTraffic(
    [target],
    keys.map(({ key }) => key),
    2,
  );
  const file = path.join(throwawayFolder(), 'records.ndjson');
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await setUp.close();
  const over = new AbortController();
  const direct = { sql: openClient(directUrl, 2), url: directUrl };
  const forms: KeyForm[] = [];
  const imports: (Ended & { readonly shop: TestShop })[] = [];
  const syncs: Ended[] = [];
  const webhooks = { next: 5_000, taken: [] as number[] };

  /** Opens the owner's page for a new key and submits its form. */
  async function createKey(by: Visitor = visitor, given?: string): Promise<KeyForm | undefined> {
    const keysPath = `/app/shops/${shown.id}/keys`;
    const page = await by.get(`${keysPath}/new`);
    if (page.status === 500) return undefined;
    assert.equal(page.status, 200, page.text);
    const id = given ?? /name="id" value="(key_[0-9a-f]{16})"/.exec(page.text)?.[1] ?? '';
    const sent = await by.post(keysPath, { id, name: 'Till', scope: 'read:plans' });
    const form = { id, status: sent.status, key: /rtn_[\w-]{43}/.exec(sent.text)?.[0] };
    forms.push(form);
    return form;
  }

  /**
   * Makes the owner create a key, and calls `disrupt` while the insert waits for a lock.
   * @param disrupt gets the ids of the server processes that insert keys, for both of the owner's tabs; the lock is
   * released when it has returned
   */
  async function createKeyAnd(
    disrupt: (pids: readonly number[]) => unknown,
  ): Promise<KeyForm | undefined> {
    const admin = openClient(directUrl, 2);
    try {
      const held = await admin.reserve();
      await held`begin`;
      await held`lock table api_keys in exclusive mode`;
      const form = createKey(visitor.copy());
      const waiting = await until(
        () => admin<{ pid: number }[]>`
          select pid from pg_stat_activity
          where wait_event_type = 'Lock' and query ~ 'insert into api_keys'`,
        // The other one belongs to the loop that keeps creating keys.
        ({ length }) => length === 2,
      );
      await disrupt(waiting.map(({ pid }) => pid));
      await held`rollback`.catch(() => {});
      held.release();
      return await form;
    } finally {
      await admin.end(0);
    }
  }

  /** @returns the exit status; `finish` checks the error messages */
  async function importOnce(shop: TestShop): Promise<number | null> {
    const ended = await runProcess(['import', '--shop', String(shop.id), file], { env });
    imports.push({ ...ended, shop });
    return ended.code;
  }

  async function syncOnce(): Promise<number | null> {
    const ended = await runProcess(['sync', 'shopify', '--once'], { env });
    syncs.push(ended);
    return ended.code;
  }

  /** Sends a webhook until it is accepted, as Shopify does. */
  async function sendContractWebhook(isCancelled: () => boolean = () => false): Promise<void> {
    const id = (webhooks.next += 1);
    putContract(standIn.world, id, { updatedAt: new Date().toISOString() });
    const event = randomUUID();
    const body = { id };
    for (;;) {
      const topic = 'subscription_contracts/create';
      const { status } = await sendWebhook(baseUrl, domain, topic, body, { event });
      if (status === 200) return void webhooks.taken.push(id);
      assert.equal(status, 503);
      if (isCancelled()) return;
      await sleep(50);
    }
  }

  const loop = async (turn: () => Promise<unknown>, pauseMilliseconds = 100) => {
    while (!over.signal.aborted) {
      await turn();
      await sleep(pauseMilliseconds);
    }
  };
  const running = Promise.all([
    loop(() => createKey()),
    // Less often, because each sync fetches all of these contracts.
    loop(() => sendContractWebhook(() => over.signal.aborted), 300),
    loop(async () => {
      const store = { write: direct.sql } as Store;
      const shop = await newShop(store).catch(() => undefined);
      if (!shop) return;
      let isDone = false;
      while (!isDone && !over.signal.aborted) isDone = (await importOnce(shop)) === 0;
    }),
    loop(syncOnce, 400),
  ]);
  // `finish` awaits it and so reports errors.
  running.catch(() => {});

  /** Waits until each loop has completed something that began after this call. */
  async function untilProgress(): Promise<void> {
    const begin = performance.now();
    const before = [forms.length, imports.length, syncs.length, webhooks.taken.length];
    const [made = 0, imported = 0, synced = 0, taken = 0] = before;
    const isDone = async () => {
      // Throws if a loop has failed, since the condition could then never become true.
      await Promise.race([running, sleep(0)]);
      return (
        forms.slice(made + 1).some(({ status }) => status === 201) &&
        imports.slice(imported + 1).some(({ code }) => code === 0) &&
        syncs.slice(synced + 1).some(({ code }) => code === 0) &&
        webhooks.taken.length > taken + 1 &&
        traffic.outcomes.filter((each) => each.begin > begin && each.ending === 'right').length > 50
      );
    };
    // Each loop has processes to start, which take a minute beside a load of ten.
    await until(isDone, Boolean, { minutes: 4 });
  }

  /** Stops the loops and checks everything that they did. */
  async function finish(): Promise<void> {
    over.abort();
    await running;
    await traffic.end();
    assert.deepEqual(traffic.wrong.slice(0, 3), []);
    assert.equal(server.child.exitCode, null);
    for (const { code, signal, err } of [...imports, ...syncs]) {
      assert.ok(signal === null && (code === 0 || code === 1), `${code} ${signal} ${err}`);
      // A single line with just the reason.
      if (code === 1) assert.match(err, /^retention: [^\n]+\n$/);
      assert.doesNotMatch(err, secrets);
    }
    const broken = imports.filter(({ code }) => code === 1).map(({ shop }) => shop);
    const unfinished = imports.at(-1);
    if (unfinished && unfinished.code !== 0) {
      assert.equal(await importOnce(unfinished.shop), 0, imports.at(-1)?.err ?? '');
    }
    for (const { id } of new Set([
      ...broken.slice(0, 2),
      ...imports.slice(-1).map(({ shop }) => shop),
    ])) {
      await assertSameShop(direct.sql, id, whole.id);
    }
    assert.equal(await syncOnce(), 0, syncs.at(-1)?.err ?? '');
    const rows = await direct.sql<{ id: number }[]>`
      select subscription_id as id from subscriptions where shop_id = ${atShopify.id}`;
    const stored = new Set(rows.map(({ id }) => id));
    assert.deepEqual(
      webhooks.taken.filter((id) => !stored.has(id)),
      [],
    );
  }

  /** Checks that the owner was told the truth about each form: a key, or a failure. */
  async function checkForms(): Promise<void> {
    const ids = new Set((await listKeys(direct.sql, shown.id)).map(({ id }) => id));
    for (const { id, status, key } of forms.slice()) {
      assert.equal(key !== undefined, status === 201);
      if (status === 201) assert.ok(ids.has(id));
      // The answer to the commit may have been lost; sending the same form again tells.
      else if (status === 500) {
        assert.equal((await createKey(visitor, id))?.status, ids.has(id) ? 303 : 201);
        ids.add(id);
      } else assert.equal(status, 303);
    }
  }

  /** @returns the log */
  async function stop(): Promise<string> {
    server.child.kill('SIGTERM');
    const { code, err } = await server.ended;
    assert.equal(code, 0, err);
    assert.doesNotMatch(err, /uncaught/);
    assert.doesNotMatch(err, secrets);
    return err;
  }

  return {
    server,
    baseUrl,
    env,
    shop: shown,
    keys: keys.map(({ key }) => key),
    visitor,
    forms,
    imports,
    syncs,
    webhooks,
    traffic,
    createKey,
    createKeyAnd,
    /** Sends a failed form again until the key is created. */
    resend: ({ id }: KeyForm) =>
      until(
        () => createKey(visitor.copy(), id),
        (sent) => sent?.status === 201,
      ),
    importOnce,
    syncOnce,
    newShop: () => newShop({ write: direct.sql } as Store),
    untilProgress,
    finish,
    checkForms,
    stop,
    /** Waits until every webhook has been processed. */
    untilQuiet: () => untilQuiet({ write: direct.sql } as Store),
    listKeys: () => listKeys(direct.sql, shown.id),
    statusWith: async (key = '') => (await get(`${baseUrl}/api/external/v1/plans`, key)).status,
    async close() {
      over.abort();
      server.child.kill('SIGKILL');
      await server.ended;
      await traffic.end();
      await running.catch(() => {});
      await direct.sql.end(0);
      await standIn.close();
    },
  };
}

export type Work = Awaited<ReturnType<typeof startWork>>;
