import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Window,
  ageBands,
  listChurnDays,
  listChurnGroups,
  listChurned,
} from '../../src/metrics/churn.ts';
import { listMonths, toCohorts, listCohorts } from '../../src/metrics/cohorts.ts';
import type { Period } from '../../src/metrics/bounds.ts';
import { movements } from '../../src/metrics/facts.ts';
import { type MovementValues, summariseMovements } from '../../src/metrics/movements.ts';
import { churnGroupsFromRecords } from '../../src/metrics/segments/churn.ts';
import {
  cohortsFromRecords,
  movementsFromRecords,
  retentionFromRecords,
} from '../../src/metrics/segments/periods.ts';
import { retentionByCohort, summariseRetention } from '../../src/metrics/retention.ts';
import { readFigures } from '../../src/metrics/segments/figures.ts';
import { listPriceChanges, sumPriceChanges } from '../../src/metrics/explain/price-changes.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import { type Ratio, divide, parseDecimal, roundHalfAway } from '../../src/money.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { createShop, importAll } from '../support/world.ts';
import { about, instantOf } from './instants.ts';
import {
  type HeldSubscription,
  churnedOf,
  cohortsOf,
  createdAt,
  movementsOf,
  priceChangesOf,
  readHeld,
  retainedOf,
  roundedValue,
} from './past-model.ts';
import { type Random, randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const day = 24 * 3_600_000;
const { numRuns: worlds, seed: firstSeed } = runs(12);
const bandOf = (age: number) => ageBands.findLast(({ from }) => age >= from);
const isMore = (one: readonly [bigint, bigint], other: readonly [bigint, bigint]) =>
  one[0] * other[1] > other[0] * one[1];
const iso = (at: number) => new Date(at).toISOString();

const names = ['opening', ...movements, 'closing'] as const;

/** Exact values as fractions of millionths, in lowest terms. */
function canonical(values: MovementValues) {
  return Object.fromEntries(names.map((name) => [name, fraction(values[name])]));
}

function fraction({ numerator, denominator }: Ratio): string {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b > 0n) [a, b] = [b, a % b];
  const divisor = a === 0n ? denominator : a;
  return `${numerator / divisor}/${denominator / divisor}`;
}

onOneDatabase('movements, churn and cohorts', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** A shop of random records, with any start of what is kept by hour. */
  async function createWorld(random: Random, batches: number) {
    const shop = await createShop(store, { currency: random.oneOf(['USD', 'JPY', 'KWD']) });
    const hoursSince = random.oneOf(['1970-01-01Z', '2026-10-30Z', 'infinity', 'default']);
    if (hoursSince !== 'default') {
      await store.write`insert into metric_shops values (${shop.id}, ${hoursSince})`;
    }
    await preparePlans(store.write, shop.id);
    for (let batch = 0; batch < batches; batch += 1) {
      await writeSomething(store.write, [shop.id], random);
    }
    return { shop, held: await readHeld(store.write, shop.id) };
  }

  /** What was ever above 0, so that no movement goes untested. */
  const moved = new Set<string>();

  const ratioOf = ([numerator, denominator]: readonly [bigint, bigint]): Ratio => ({
    numerator,
    denominator: denominator * 10n ** 12n,
  });
  const moneyOf = (value: Ratio) => roundHalfAway(value, 9);

  const fractionOf = ([numerator, denominator]: readonly [bigint, bigint]) =>
    fraction({ numerator, denominator: denominator * 10n ** 12n });

  async function compareMovements(
    shopId: number,
    held: readonly HeldSubscription[],
    from: number,
    to: number,
    where: string,
  ) {
    const period = { from, until: to };
    const valueOf = movementsOf(held, from, to);
    for (const name of names) if (valueOf(name)[0] > 0n) moved.add(name);
    const expected = Object.fromEntries(names.map((name) => [name, fractionOf(valueOf(name))]));
    const served = await summariseMovements(store.primary.analyse, shopId, period);
    assert.deepEqual(canonical(served), expected, where);
    const plain = await movementsFromRecords(store.write, shopId, period);
    assert.deepEqual(canonical(plain), expected, `from records, ${where}`);
    const { net, gross } = retainedOf(held, from, to);
    const retained = { movements: plain, net: ratioOf(net), gross: ratioOf(gross) };
    for (const read of [summariseRetention, retentionFromRecords]) {
      const found = await read(store.write, shopId, period);
      assert.equal(moneyOf(found.net), moneyOf(retained.net), `net, ${where}`);
      assert.equal(moneyOf(found.gross), moneyOf(retained.gross), `gross, ${where}`);
    }
    await compareCohorts(shopId, held, period, where);
  }

  /** What became of each cohort's revenue, and the whole as the sum of that. */
  async function compareCohorts(
    shopId: number,
    held: readonly HeldSubscription[],
    period: Period,
    where: string,
  ) {
    const byCustomer = [...Map.groupBy(held, ({ customerId }) => customerId).values()];
    const begun = byCustomer.flatMap((own) => {
      const since = Math.min(...own.map(createdAt));
      return since < period.until ? [{ own, month: iso(since).slice(0, 7) }] : [];
    });
    const expected = [...Map.groupBy(begun, ({ month }) => month)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([month, of]) => {
        const own = of.flatMap((each) => each.own);
        const { net, gross } = retainedOf(own, period.from, period.until);
        const opening = ratioOf(movementsOf(own, period.from, period.until)('opening'));
        const share = (part: readonly [bigint, bigint]) =>
          opening.numerator > 0n ? roundHalfAway(divide(ratioOf(part), opening), 4) : null;
        return { month, net: share(net), gross: share(gross) };
      });
    const found = await retentionByCohort(store.write, { id: shopId, currency: 'USD' }, period);
    assert.deepEqual(
      found.map(({ month, net, gross }) => ({ month, net, gross })),
      expected,
      where,
    );
  }

  async function compareChurn(
    shopId: number,
    held: readonly HeldSubscription[],
    window: Window,
    where: string,
  ) {
    const { from, until, now } = window;
    const expected = churnedOf(held, from, until, now);
    const countOf = (cause: string, of = expected) =>
      of.filter((each) => each.cause === cause).length;
    const days = await listChurnDays(store.primary.analyse, shopId, window);
    const byDay = Map.groupBy(expected, ({ leftAt }) => Math.floor(leftAt / day) * day);
    assert.deepEqual(
      days.map((each) => ({ ...each })),
      [...byDay]
        .toSorted(([a], [b]) => a - b)
        .map(([at, of]) => ({
          day: at,
          cancelled: countOf('cancelled', of),
          failed: countOf('failed', of),
        })),
      where,
    );
    const groupOf = ({ planId, cause, ageDays }: (typeof expected)[number]) =>
      `${planId} ${cause} ${bandOf(ageDays)?.name}`;
    const groups = [...Map.groupBy(expected, groupOf)].map(([group, of]) => [group, of.length]);
    for (const found of [
      await listChurnGroups(store.primary.analyse, shopId, window),
      await churnGroupsFromRecords(store.write, shopId, window),
    ]) {
      const shown = found.map(({ planId, cause, age, count }) => [
        `${planId} ${cause} ${age.name}`,
        count,
      ]);
      assert.deepEqual(shown.toSorted(), groups.toSorted(), where);
    }
    const [filter = {}] = expected.toReversed().map(({ planId, cause, ageDays }) => ({
      planId,
      cause,
      age: bandOf(ageDays),
    }));
    const read = (page: object) =>
      listChurned(store.primary.analyse, shopId, window, {
        after: undefined,
        limit: 1000,
        ...page,
      });
    const one = await read(filter);
    const [last] = expected.slice(-1);
    assert.deepEqual(
      one.map(({ subscriptionId }) => subscriptionId),
      expected.filter((each) => last && groupOf(each) === groupOf(last)).map(({ id }) => id),
      where,
    );
    const byAge = expected.toSorted(
      (a, b) => b.ageDays - a.ageDays || b.leftAt - a.leftAt || b.id - a.id,
    );
    const values = new Map((await read({})).map((row) => [row.subscriptionId, Number(row.value)]));
    const valueOf = ({ id }: { readonly id: number }) => values.get(id) ?? Number.NaN;
    const byValue = expected.toSorted(
      (a, b) => valueOf(b) - valueOf(a) || b.leftAt - a.leftAt || b.id - a.id,
    );
    assert.deepEqual(
      (await read({ ...filter, order: 'highest' })).map(({ subscriptionId }) => subscriptionId),
      byValue.filter((each) => last && groupOf(each) === groupOf(last)).map(({ id }) => id),
      where,
    );
    for (const [order, inOrder] of [
      ['newest', expected],
      ['oldest', expected.toReversed()],
      ['longest', byAge],
      ['shortest', byAge.toReversed()],
      ['highest', byValue],
      ['lowest', byValue.toReversed()],
    ] as const) {
      const listed = [];
      for (let previous; ;) {
        const place = previous && {
          createdAt: previous.leftAt,
          id: previous.subscriptionId,
          ageDays: previous.ageDays,
          value: previous.value,
        };
        const page = { order, after: place, limit: 2 };
        const rows = await listChurned(store.primary.analyse, shopId, window, page);
        listed.push(...rows);
        previous = rows.at(-1);
        if (previous === undefined) break;
      }
      assert.deepEqual(
        listed.map(({ subscriptionId, customerId, planId, leftAt, cause, ageDays }) => ({
          id: subscriptionId,
          customerId,
          planId,
          leftAt,
          cause,
          ageDays,
        })),
        inOrder,
        `${where}, ${order}`,
      );
    }
  }

  /** How many rows of changed prices were compared, and how many of them had left. */
  const repriced = { rows: 0, left: 0 };

  async function comparePrices(
    shopId: number,
    held: readonly HeldSubscription[],
    period: Period,
    where: string,
  ) {
    const { analyse } = store.primary;
    const all = priceChangesOf(held, period.from, period.until);
    const [some] = all.filter(({ leftAt }) => leftAt !== null).concat(all);
    const filters = [
      {},
      { within: '30' as const },
      some && { planId: some.planId, isRise: isMore(some.became, some.was) },
    ];
    for (const filter of filters.filter((each) => each !== undefined)) {
      const expected = all.filter(
        ({ planId, at, was, became, leftAt }) =>
          planId === (filter.planId ?? planId) &&
          (filter.isRise === undefined || isMore(became, was) === filter.isRise) &&
          (filter.within === undefined ||
            (leftAt !== null && leftAt < at + Number(filter.within) * day)),
      );
      const shown = (each: (typeof expected)[number]) => [
        each.id,
        each.at,
        roundedValue(each.was, 9),
        roundedValue(each.became, 9),
        each.leftAt,
        each.lost && roundedValue(each.lost, 9),
      ];
      const listed = [];
      for (let previous; ;) {
        const place = previous && { createdAt: previous.at, id: previous.subscriptionId };
        const page = { order: 'newest', after: place, limit: 2, ...filter } as const;
        const rows = await listPriceChanges(analyse, shopId, period, page);
        listed.push(...rows);
        previous = rows.at(-1);
        if (previous === undefined) break;
      }
      const number = (text: string | null) =>
        text === null ? null : roundHalfAway(parseDecimal(text), 9);
      assert.deepEqual(
        listed.map((each) => [
          each.subscriptionId,
          each.at,
          number(each.was),
          number(each.became),
          each.leftAt,
          number(each.lost),
        ]),
        expected.map(shown),
        where,
      );
      const sums = await sumPriceChanges(analyse, shopId, period, filter);
      const left = new Set(expected.filter(({ leftAt }) => leftAt).map(({ id }) => id)).size;
      assert.deepEqual([sums?.count, sums?.left], [expected.length, left], where);
      repriced.rows += expected.length;
      repriced.left += left;
    }
  }

  test('a subscription that left twice and came back left, as of a day between, the second time', async () => {
    const midnight = (date: string) => `2026-10-${date}T00:00:00.000Z`;
    const changes = [
      ['05', 'cancelled'],
      ['08', 'active'],
      ['12', 'cancelled'],
      ['20', 'active'],
    ] as const;
    const shop = await createShop(store);
    const { refused } = await importAll(store, shop, [
      plan(),
      subscription(1, {
        createdAt: midnight('01'),
        statusEvents: changes.map(([date, to]) => ({ at: midnight(date), to })),
      }),
    ]);
    assert.deepEqual(refused, []);
    const seenAt = Date.parse(midnight('16'));
    const window = { from: Date.parse(midnight('10')), until: seenAt, now: seenAt };
    const page = { after: undefined, limit: 100 };
    const rows = await listChurned(store.primary.analyse, shop.id, window, page);
    assert.deepEqual(
      rows.map(({ leftAt }) => iso(leftAt)),
      [midnight('12')],
    );
  });

  test('match their definitions at any instant, for any writes', async () => {
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const random = randomOf(seed);
      const { shop, held } = await createWorld(random, 16);
      assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
      for (let time = 0; time < 20; time += 1) {
        const now = instantOf(random);
        const [a, b] = [instantOf(random), random.oneOf([now, instantOf(random)])];
        const [from, to] = a < b ? [a, b] : [b, a + 1];
        const where = `seed ${seed}, from ${iso(from)} to ${iso(to)}, now ${iso(now)}`;
        await compareMovements(shop.id, held, from, to, where);
        await compareMovements(shop.id, held, to - 3_600_000, to, where);
        const window = { from, until: Math.max(Math.min(to, now), from + 1), now };
        await compareChurn(shop.id, held, window, where);
        await comparePrices(shop.id, held, window, where);
      }
    }
    assert.deepEqual([...moved].toSorted(), names.toSorted());
    assert.ok(repriced.left > 0 && repriced.rows > repriced.left, JSON.stringify(repriced));
  });

  test('cohorts match their definition at any instant, for any writes, also of one plan', async () => {
    for (let seed = firstSeed + 100; seed < firstSeed + 100 + worlds; seed += 1) {
      const random = randomOf(seed);
      const { shop, held } = await createWorld(random, 10);
      const digits = { USD: 2, JPY: 0, KWD: 3 }[shop.currency] as number;
      const rounded = (of: readonly HeldSubscription[], months: number, now: number) =>
        cohortsOf(of, months, now).map((each) => ({
          ...each,
          mrr: each.mrr.map((value) => roundedValue(value, digits)),
        }));
      for (let time = 0; time < 6; time += 1) {
        const now = random.oneOf([instantOf(random), Date.parse('2026-12-01Z'), about]);
        const options = { months: random.oneOf([1, 2, 3, 4, 36]), now };
        const where = `seed ${seed}, ${options.months} months until ${iso(now)}`;
        const expected = rounded(held, options.months, now);
        assert.deepEqual(await listCohorts(store.primary.analyse, shop, options), expected, where);
        const rows = await cohortsFromRecords(store.write, shop.id, options);
        const plain = toCohorts(rows, listMonths(options), shop.currency);
        assert.deepEqual(plain, expected, `from records, ${where}`);
        const planId = 1 + random.integer(3);
        const own = held.filter((each) => each.planId === planId);
        const selection = { segment: { plan: planId }, now };
        assert.deepEqual(
          await readFigures(store.primary, shop, selection, (figures) => figures.cohorts(options)),
          rounded(own, options.months, now),
          `plan ${planId}, ${where}`,
        );
      }
    }
  });
});
