import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Explanation, explain } from '../../src/metrics/explain/explain.ts';
import {
  type Dimension,
  dimensionsOf,
  explainedFigures,
} from '../../src/metrics/explain/question.ts';
import { type IntervalText, monthlyValue } from '../../src/mrr.ts';
import type { Period } from '../../src/metrics/bounds.ts';
import type { Segment } from '../../src/metrics/segments/segment.ts';
import { summariseFromRecords } from '../../src/metrics/segments/summary.ts';
import { priceDecimals, roundHalfAway } from '../../src/money.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { listChurnGroups } from '../../src/metrics/churn.ts';
import type { MetricsRow } from '../../src/metrics/facts.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneDatabase } from '../support/databases.ts';
import { eachInstant, windowOf } from './worlds.ts';

/** What the summary counts for each figure: of a sum, only n. */
const wholeOf = {
  churnRate: ({ churned, atRisk }: MetricsRow) => [churned, atRisk],
  mrr: ({ activeValue }: MetricsRow) => [roundHalfAway(monthlyValue(activeValue), priceDecimals)],
  newSubscribers: ({ newSubscribers }: MetricsRow) => [newSubscribers],
  recoveryRate: ({ dunningRecovered, dunningClosed }: MetricsRow) => [
    dunningRecovered,
    dunningClosed,
  ],
  saveRate: ({ sessionsSaved, sessionsEnded }: MetricsRow) => [sessionsSaved, sessionsEnded],
} as const;

const isClose = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));

function assertClose(found: readonly number[], expected: readonly number[], where: string) {
  assert.ok(
    found.length === expected.length &&
      found.every((each, index) => isClose(each, expected[index] ?? NaN)),
    `${where}: ${found.join(' ')} instead of ${expected.join(' ')}`,
  );
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** How many changes were not null and not 0. */
let changes = 0;
let pairs = 0;

function assertParts({ change, values }: Explanation, where: string) {
  pairs += 1;
  if (change === null) {
    assert.ok(
      values.every(({ part }) => part === null),
      where,
    );
    return;
  }
  if (change !== 0) changes += 1;
  assertClose([sum(values.map(({ part }) => part as number))], [change], `parts, ${where}`);
  for (const { rate, mix, part } of values) {
    if (rate !== undefined)
      assertClose([(rate as number) + (mix as number)], [part as number], where);
  }
}

/** The segment of a value, whose figures follow from the records of its subscriptions. */
const segmentOf = {
  plan: (value) => ({ plan: Number(value) }),
  interval: (value) => ({ interval: value.replace('-', ' ') as IntervalText }),
  price: (value) => {
    const [from, to] = value.split('-') as [string, string];
    return { price: { from, to: to === '' ? undefined : `${Number(to) - 1}.999999` } };
  },
} as const satisfies Partial<Record<Dimension, (value: string) => Segment>>;

let segments = 0;

/** What churn and MRR count for each plan, interval and price is what their records say. */
async function assertValues(
  question: Readonly<Record<'before' | 'now', Period>>,
  ask: (
    figure: 'churnRate' | 'mrr',
    by: keyof typeof segmentOf,
  ) => Promise<{
    found: Explanation;
    countOf: (period: Period, segment: Segment) => Promise<readonly number[]>;
    at: string;
  }>,
) {
  for (const figure of ['churnRate', 'mrr'] as const) {
    for (const by of ['plan', 'interval', 'price'] as const) {
      const { found, countOf, at } = await ask(figure, by);
      for (const each of found.values) {
        for (const period of ['before', 'now'] as const) {
          const { n, d } = each[period];
          segments += 1;
          assertClose(
            d === undefined ? [n] : [n, d],
            await countOf(question[period], segmentOf[by](String(each.value))),
            `${period} of ${each.value}, ${at}`,
          );
        }
      }
    }
  }
}

onOneDatabase('explanations of random shops', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  // The whole of both periods is that of the summary, which random worlds compare with the records.
  test(
    'what is counted sums to the figures, and the parts to their change',
    { timeout: 900_000 },
    async () => {
      const { analyse } = store.primary;
      await eachInstant(store, 7000, async (shopId, random, now, where) => {
        const period = () => {
          const { from, until } = windowOf(random, now);
          return { from, until };
        };
        const question = { before: period(), now: period() };
        const rows = await Promise.all(
          [question.before, question.now].map((each) =>
            summariseMetrics(analyse, shopId, now, each),
          ),
        );
        for (const figure of explainedFigures) {
          for (const by of dimensionsOf(figure)) {
            const at = `${figure} by ${by}, ${where}`;
            const found = await explain(analyse, shopId, { figure, by, ...question }, now);
            for (const [index, of] of (['before', 'now'] as const).entries()) {
              const row = rows[index] as MetricsRow;
              const expected = wholeOf[figure](row);
              const counts = found.values.map((value) => value[of]);
              const n = sum(counts.map((count) => count.n));
              const d = counts.every((count) => count.d === undefined)
                ? []
                : [sum(counts.map((count) => count.d ?? 0))];
              assertClose(
                [n, ...(d.length === 0 ? expected.slice(1) : d)],
                expected,
                `${of}, ${at}`,
              );
              const whole =
                expected[1] === undefined ? n : expected[1] === 0 ? null : n / expected[1];
              if (whole === null) assert.equal(found[of], null, at);
              else assertClose([found[of] as number], [whole], at);
            }
            assertParts(found, at);
          }
        }
        await assertValues(question, async (figure, by) => ({
          found: await explain(analyse, shopId, { figure, by, ...question }, now),
          countOf: async (of, segment) =>
            wholeOf[figure](await summariseFromRecords(analyse, shopId, now, of, { segment, now })),
          at: `${figure} by ${by}, ${where}`,
        }));
        // The pages group those that left by the same bands and plans.
        const groups = await listChurnGroups(analyse, shopId, {
          ...question.now,
          now: question.now.until === now ? now : question.now.until - 1,
        });
        for (const by of ['age', 'plan'] as const) {
          const { values } = await explain(
            analyse,
            shopId,
            { figure: 'churnRate', by, ...question },
            now,
          );
          const counted = Map.groupBy(groups, ({ age, planId }) =>
            by === 'age' ? age.name : planId,
          );
          for (const {
            value,
            now: { n },
          } of values) {
            assert.equal(
              n,
              sum((counted.get(value as never) ?? []).map(({ count }) => count)),
              `${by} ${value}, ${where}`,
            );
          }
        }
      });
      assert.ok(pairs >= 1000, `${pairs} explanations`);
      assert.ok(segments >= 1000, `${segments} segments`);
      assert.ok(changes > pairs / 10, `${changes} of ${pairs} changed`);
    },
  );
});
