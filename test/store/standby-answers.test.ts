import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { FixedClock, systemClock } from '../../src/clock.ts';
import { JsonText } from '../../src/operations/coalesce.ts';
import type { Service } from '../../src/service.ts';
import type { Entitlements } from '../../src/store/records/entitlements.ts';
import type { Store } from '../../src/store/open.ts';
import { line, plan, session, subscription } from '../rest/records.ts';
import { findPostgresPrograms } from '../support/postgres.ts';
import { type Replicated, onServer, startReplicated } from '../support/replication.ts';
import { runs, seed } from '../support/seed.ts';
import { type Transport, answerOver, transports } from '../support/transports.ts';
import { until } from '../support/until.ts';
import {
  type TestShop,
  createShop,
  createTestKey,
  importAll,
  startTestService,
} from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

/** Readers see everything that was committed at least this long before they asked. */
const maxLagMilliseconds = 2_000;

const begin = Date.now();
const secondsAfter = (count: number) => new Date(begin + count * 1000).toISOString();

/**
 * The time of all imports: before all questions. What is answered holds when it is asked, so of a change that was
 * imported between that and the reading, it would show only what has no date.
 */
const imported = new FixedClock(begin);

/** One state of a shop, in which every record has its number. It is imported in one transaction. */
const recordsOf = (state: number) => [
  ...[11, 12].map((id) => plan({ id, name: String(state) })),
  ...[1, 2, 3].map((id) =>
    subscription(id, {
      updatedAt: undefined,
      paidThroughAt: secondsAfter(state),
      lines: [{ ...line, quantity: 1, currentPrice: `${state}.00` }],
    }),
  ),
  session(state, { createdAt: secondsAfter(state - 1_000_000) }),
];

/** What the parts of any payload say of the state that they show. */
const stateBy: Readonly<Record<string, (value: any) => number>> = {
  name: Number,
  planName: Number,
  currentPrice: Number,
  paidThroughAt: (time) => (Date.parse(time) - begin) / 1000,
  sessionId: Number,
  mrr: (sum) => sum / 3,
  avgSubscriptionValue: Number,
  cancelSessions30d: Number,
};

/** The state that a payload shows; NaN if its parts are of several, or it is none. */
function stateIn(payload: object): number {
  const states = new Set<number>();
  JSON.stringify(payload, (name, value: unknown) => {
    if (Object.hasOwn(stateBy, name)) states.add(stateBy[name]?.(value) ?? NaN);
    return value;
  });
  const [state = NaN, ...others] = states;
  return others.length === 0 ? state : NaN;
}

const inputs: Readonly<Record<string, Record<string, unknown>>> = {
  list_plans: {},
  list_subscriptions: {},
  get_subscription: { subscriptionId: 2 },
  get_entitlements: { customerId: 501 },
  list_cancellations: { limit: 1 },
  get_metrics_summary: {},
};
const anyRequest = fc.tuple(
  fc.constantFrom(...Object.keys(inputs)),
  fc.constantFrom(...transports),
  fc.nat(3),
);

/** What happens meanwhile: to a shop or standby, and how many milliseconds later the next. */
const anyStep = fc.record({
  what: fc.oneof(
    { weight: 8, arbitrary: fc.constant('write' as const) },
    { weight: 1, arbitrary: fc.constant('pause' as const) },
    { weight: 1, arbitrary: fc.constant('resume' as const) },
  ),
  which: fc.nat(1),
  pause: fc.nat(30),
});

describe('answers from standbys that replay, pause and resume', { skip, timeout: 600_000 }, () => {
  let all: Replicated;
  let service: Service;
  const shops: Shop[] = [];
  /** What was wrong with an answer. */
  const wrong: string[] = [];
  const seen = { outdated: 0, standby: 0, primary: 0 };

  before(async () => {
    all = await startReplicated(2);
    service = await startTestService(observed(all.store), { clock: systemClock });
    for (let made = 0; made < 2; made += 1) shops.push(await openShop(all.store));
  });
  after(async () => {
    await service.close();
    await all.close();
  });

  /** A store that checks what each operation reads on each server; the primary's is never outdated. */
  function observed(store: Store): Store {
    const shown = new Map<Entitlements, Map<number, number>>();
    return {
      ...store,
      readRecent: (shopId, work) =>
        store.readRecent(shopId, async (from) => {
          // Only these are one object for all shops of a server.
          const isPrimary = from.entitlements === store.primary.entitlements;
          const shop = shops.find(({ id }) => id === shopId) ?? assert.fail();
          const ofServer = shown.getOrInsertComputed(from.entitlements, () => new Map());
          const committed = shop.committedBy(performance.now());
          const already = ofServer.get(shopId) ?? 0;
          const atLeast = isPrimary ? Math.max(already, committed) : already;
          const payload = await work(from);
          const state = stateIn(payload instanceof JsonText ? JSON.parse(payload.text) : payload);
          if (state < atLeast) wrong.push(`one server showed ${state} after ${atLeast}`);
          ofServer.set(shopId, Math.max(state, ofServer.get(shopId) ?? 0));
          seen[isPrimary ? 'primary' : 'standby'] += 1;
          if (state < committed) seen.outdated += 1;
          return payload;
        }),
    };
  }

  async function ask(shop: Shop, tool: string, transport: Transport) {
    const atLeast = shop.committedBy(performance.now() - maxLagMilliseconds);
    const { baseUrl } = service;
    const payload = await answerOver(transport, { baseUrl, key: shop.key }, tool, inputs[tool]);
    const state = stateIn(payload);
    if (!(state >= atLeast && state <= shop.begun)) {
      const shown = JSON.stringify(payload);
      wrong.push(`${tool} showed ${shown} while ${atLeast} to ${shop.begun} were right`);
    }
  }

  const replay = (what: 'pause' | 'resume', standby: number) =>
    onServer(all.standbys[standby]?.url ?? '', `select pg_wal_replay_${what}()`);
  const untilInUse = (isInUse: boolean) =>
    until(() => wrong.length > 0 || [0, 1].every((standby) => all.isInUse(standby) === isInUse));

  test('show one state that is at most 2 seconds old, and on one server never an earlier one', async () => {
    const over = new AbortController();
    const readers = shops.flatMap((shop) =>
      [1, 2, 3, 4].map(async (reader) => {
        const requests = fc.sample(anyRequest, { ...runs(200), seed: seed + reader });
        for (let count = 0; !over.signal.aborted && wrong.length === 0; count += 1) {
          const [tool, transport, pause] = requests[count % requests.length] ?? assert.fail();
          await ask(shop, tool, transport).catch((error) => void wrong.push(String(error)));
          await sleep(pause);
        }
      }),
    );
    await untilInUse(true);
    for (const { what, which, pause } of fc.sample(anyStep, runs(60))) {
      if (what === 'write') await shops[which]?.write();
      else await replay(what, which);
      await sleep(pause);
    }
    // Whatever the steps were: until paused standbys have shown an outdated state and are left out.
    for (let hasShown = false; !hasShown && wrong.length === 0;) {
      await Promise.all([0, 1].map((standby) => replay('resume', standby)));
      await untilInUse(true);
      await Promise.all([0, 1].map((standby) => replay('pause', standby)));
      const { outdated, primary } = seen;
      for (const shop of shops) await shop.write();
      await untilInUse(false);
      for (const shop of [...shops, ...shops, ...shops]) await shop.write();
      await until(() => wrong.length > 0 || seen.primary > primary + 10);
      hasShown = seen.outdated > outdated;
    }
    over.abort();
    await Promise.all(readers);
    assert.deepEqual(wrong, []);
    assert.ok(seen.standby > 0);
  });
});

async function openShop(store: Store) {
  const shop: TestShop = await createShop(store);
  const { key } = await createTestKey(store, shop.id);
  /** When each state was known to be committed. */
  const committed: number[] = [];
  const opened = {
    id: shop.id,
    key,
    /** The latest state whose import has begun. */
    begun: 0,
    async write() {
      const state = (opened.begun += 1);
      const { refused } = await importAll(store, shop, recordsOf(state), false, imported);
      assert.deepEqual(refused, []);
      committed.push(performance.now());
    },
    committedBy: (time: number) => committed.findLastIndex((at) => at <= time) + 1,
  };
  await opened.write();
  return opened;
}

type Shop = Awaited<ReturnType<typeof openShop>>;
