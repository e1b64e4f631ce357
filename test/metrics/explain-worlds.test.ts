import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Explanation, explain } from '../../src/metrics/explain/explain.ts';
import { dimensionsOf, explainedFigures } from '../../src/metrics/explain/question.ts';
import { monthlyValue } from '../../src/mrr.ts';
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
      assert.ok(changes > pairs / 10, `${changes} of ${pairs} changed`);
    },
  );
});
