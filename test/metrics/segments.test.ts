import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { addInterval } from '../../src/intervals.ts';
import { seenFrom } from '../../src/metrics/bounds.ts';
import type { MetricsRow } from '../../src/metrics/facts.ts';
import { toSummary } from '../../src/metrics/figures.ts';
import { toMovements } from '../../src/metrics/movements.ts';
import { type Figures, readFigures } from '../../src/metrics/segments/figures.ts';
import { type Segment, ages, conditionNames } from '../../src/metrics/segments/segment.ts';
import { roundHalfAway } from '../../src/money.ts';
import { type Sql, arrayText } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { subscriptionStatuses } from '../../src/vocabulary.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { type TestShop, createShop } from '../support/world.ts';
import { about, instantOf } from './instants.ts';
import { type Random, randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const day = 24 * 3_600_000;
const { numRuns: worlds, seed: firstSeed } = runs(6);
const groups = ['', 'Boxes', 'Clubs'];
const products = [81, 82, 83];

/** A subscription as a segment sees it. */
interface Candidate {
  readonly id: number;
  readonly plan: number;
  readonly group: string;
  readonly products: readonly number[];
  readonly interval: string;
  readonly status: string;
  readonly createdAt: number;
  readonly price: string;
}

/** Whether a subscription meets all conditions, from their definition. */
function isIn({ price, age, product, ...rest }: Segment, each: Candidate, now: number): boolean {
  const [youngest, oldest] = (age ?? '0-').split('-').map(Number) as [number, number];
  const monthsAgo = (months: number) => addInterval(now, 'month', -months);
  return (
    Object.entries(rest).every(([name, value]) => each[name as 'plan'] === value) &&
    (product === undefined || each.products.includes(product)) &&
    (youngest === 0 || each.createdAt <= monthsAgo(youngest)) &&
    (oldest === 0 || each.createdAt > monthsAgo(oldest)) &&
    Number(each.price) >= Number(price?.from ?? 0) &&
    Number(each.price) <= Number(price?.to ?? Infinity)
  );
}

function segmentOf(random: Random): Segment {
  const some = <Value>(values: readonly Value[]) =>
    random.chance(0.3) ? random.oneOf(values) : undefined;
  const conditions = {
    plan: some([1, 2, 3]),
    group: some(groups.slice(1)),
    product: some(products),
    interval: some(['month 1', 'month 2', 'month 3', 'week 1'] as const),
    status: some(subscriptionStatuses),
    age: some(ages),
    price: some([
      { from: '5', to: '19.99' },
      { from: '6', to: undefined },
      { from: undefined, to: '5.5' },
    ]),
  };
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  return given.length === 0 ? segmentOf(random) : (Object.fromEntries(given) as Segment);
}

onOneDatabase('segments', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** A shop of random records, whose subscriptions have lines, and whose sessions have subscriptions. */
  async function createWorld(random: Random) {
    const shop = await createShop(store, { currency: random.oneOf(['USD', 'JPY', 'KWD']) });
    const sql = store.write;
    await preparePlans(sql, shop.id);
    for (let batch = 0; batch < 14; batch += 1) await writeSomething(sql, [shop.id], random);
    for (const plan of [1, 2, 3]) {
      await sql`update plans set group_name = ${random.oneOf(groups)}
        where shop_id = ${shop.id} and plan_id = ${plan}`;
    }
    await sql`
      update cancellation_sessions c set subscription_id = s.subscription_id from subscriptions s
      where c.shop_id = ${shop.id} and s.shop_id = ${shop.id} and s.subscription_id = c.session_id`;
    const candidates = await listCandidates(sql, shop.id);
    for (const { id } of candidates) {
      for (const [line, product] of products.entries()) {
        if (!random.chance(0.4)) continue;
        // A product may be on two lines.
        for (const twin of [0, random.integer(2)]) {
          await sql`
            insert into subscription_lines values (${shop.id}, ${id}, ${10 * line + twin}, ${line},
              ${product}, 'Blend', 91, '', 1, 10) on conflict do nothing`;
        }
      }
    }
    return { shop, candidates: await listCandidates(sql, shop.id) };
  }

  function listCandidates(sql: Sql, shopId: number) {
    return sql<Candidate[]>`
      select s.subscription_id as id, s.plan_id as plan, p.group_name as "group", s.status,
        array_to_json(array(select product_id from subscription_lines l
          where l.shop_id = s.shop_id and l.subscription_id = s.subscription_id)) as products,
        coalesce(own_interval_unit, interval_unit) || ' ' || coalesce(own_interval_count, interval_count)
          as interval,
        (date_part('epoch', s.created_at) * 1000)::bigint as "createdAt", s.current_price::text as price
      from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
      where s.shop_id = ${shopId}`;
  }

  interface Instants {
    readonly now: number;
    readonly from: number;
    readonly until: number;
  }

  /** Every figure, each amount rounded once. */
  function readAll({ currency }: TestShop, { now, from, until }: Instants) {
    const rowOf = (row: MetricsRow) => ({
      ...row,
      // The summary has what these two come to.
      activeValue: undefined,
      upcomingRenewalsValue: undefined,
      paid: Number(row.paid),
      refunded: Number(row.refunded),
      trialValue: Number(row.trialValue),
    });
    return async (figures: Figures) => {
      const period = { from, until };
      const [summary, history, reasons, movements, churnDays, churnGroups, cohorts] =
        await Promise.all([
          figures.summary(period, now),
          figures.history(period),
          figures.reasons(period),
          figures.movements(period),
          figures.churnDays({ ...period, now }),
          figures.churnGroups({ ...period, now }),
          figures.cohorts({ months: 5, now }),
        ]);
      const { cause, planId, age } = { planId: undefined, cause: undefined, ...churnGroups[0] };
      const group = { cause, planId, age, after: undefined, limit: 50 };
      const first = await figures.churned({ ...period, now }, { after: undefined, limit: 2 });
      const last = first.at(-1);
      const next = last && { createdAt: last.leftAt, id: last.subscriptionId };
      return {
        counts: rowOf(summary),
        summary: toSummary(summary, currency, until),
        history,
        reasons: [...reasons],
        movements: toMovements(movements, currency),
        churnDays: [...churnDays],
        churnGroups,
        ofGroup: [...(await figures.churned({ ...period, now }, group))],
        churned: [
          ...first,
          ...(await figures.churned({ ...period, now }, { after: next, limit: 50 })),
        ],
        cohorts,
        ...(await readLists(figures, { now, from, until })),
      };
    };
  }

  /** Sessions of the cancel flow and dunning cases: what is counted, and what is listed. */
  async function readLists(figures: Figures, { now, from, until }: Instants) {
    const period = { from, until };
    const at = seenFrom(period, now);
    const page = { after: undefined, limit: 50 };
    const sortedTexts = (rows: readonly object[]) =>
      rows.map((row) => inspect(row, { sorted: true })).toSorted();
    const { subscriptions, value } = await figures.kept({ ...period, now });
    return {
      kept: [subscriptions, roundHalfAway(value, 6)],
      sessionCounts: sortedTexts(await figures.sessionCounts(period)),
      sessionDays: sortedTexts(await figures.sessionDays(period)),
      sessions: await figures.sessions(
        { ...period, reason: undefined, offer: undefined, outcomes: undefined },
        page,
      ),
      outstanding: sortedTexts(await figures.outstanding(at)),
      closed: sortedTexts(await figures.closed(period)),
      open: [...(await figures.openCases({ order: 'oldest', code: undefined, at, now, ...page }))],
      closedCases: [
        ...(await figures.closedCases(
          { ...period, result: undefined, code: undefined, attempts: [1, 99], retries: [0, 99] },
          page,
        )),
      ],
    };
  }

  function instantsOf(random: Random): Instants {
    const now = random.oneOf([about, instantOf(random)]);
    const until = random.oneOf([now, now - random.integer(40 * day)]);
    return { now, from: until - random.oneOf([30 * day, 1, 3_600_000, 2 * day, 70 * day]), until };
  }

  /** What the ledger says once only some of the subscriptions exist. */
  async function readWithout(
    shop: TestShop,
    ids: readonly number[],
    instants: Instants,
  ): Promise<unknown> {
    const rollback = new Error('taken back');
    let found: unknown;
    await store.write
      .begin(async (tx) => {
        const isAnother = tx`subscription_id is null
          or not subscription_id = any(${arrayText(ids)}::bigint[])`;
        await tx`delete from cancellation_sessions where shop_id = ${shop.id} and (${isAnother})`;
        await tx`delete from subscriptions where shop_id = ${shop.id} and (${isAnother})`;
        const connections = { analyse: tx as Sql, segments: store.primary.segments };
        found = await readFigures(connections, shop, undefined, readAll(shop, instants));
        throw rollback;
      })
      .catch((error: unknown) => assert.equal(error, rollback));
    return found;
  }

  test('have the figures that the ledger has if no other subscriptions exist', async () => {
    /** The conditions of segments that had some subscriptions, but not all. */
    const divided = new Set<string>();
    const isCovered = () => divided.size === conditionNames.length;
    for (let seed = firstSeed; seed < firstSeed + worlds || !isCovered(); seed += 1) {
      assert.ok(seed < firstSeed + 4 * worlds, `only ${[...divided].join(', ')}`);
      const random = randomOf(seed);
      const { shop, candidates } = await createWorld(random);
      for (let time = 0; time < 10; time += 1) {
        const instants = instantsOf(random);
        const { now } = instants;
        const segment = segmentOf(random);
        const ids = candidates.filter((each) => isIn(segment, each, now)).map(({ id }) => id);
        if (ids.length > 0 && ids.length < candidates.length) {
          for (const name of Object.keys(segment)) divided.add(name);
        }
        const where = `seed ${seed}, ${JSON.stringify(segment)}, ${JSON.stringify(instants)}`;
        assert.deepEqual(
          await readFigures(store.primary, shop, { segment, now }, readAll(shop, instants)),
          await readWithout(shop, ids, instants),
          where,
        );
      }
    }
    assert.deepEqual([...divided].toSorted(), conditionNames.toSorted());
  });

  test('have the ledger’s figures if all subscriptions belong to them', async () => {
    for (let seed = firstSeed + 50; seed < firstSeed + 50 + worlds / 2; seed += 1) {
      const random = randomOf(seed);
      const { shop } = await createWorld(random);
      // What belongs to no subscription is in no segment.
      await store.write`
        delete from cancellation_sessions where shop_id = ${shop.id} and subscription_id is null`;
      for (let time = 0; time < 5; time += 1) {
        const instants = instantsOf(random);
        const selection = { segment: { price: { from: '0', to: undefined } }, now: instants.now };
        assert.deepEqual(
          await readFigures(store.primary, shop, selection, readAll(shop, instants)),
          await readFigures(store.primary, shop, undefined, readAll(shop, instants)),
          `seed ${seed}, ${JSON.stringify(instants)}`,
        );
      }
    }
  });
});
