import { systemClock } from '../../clock.ts';
import {
  type LedgerDifference,
  findLedgerDifferences,
  rebuildMetrics,
} from '../../metrics/verify/sums.ts';
import { type FigureDifference, findFigureDifferences } from '../../metrics/verify/figures.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { defineCommand, exitStatus } from '../framework/command.ts';
import { table } from '../framework/table.ts';
import { shopOption, withShop } from '../store.ts';

const verify = defineCommand({
  name: 'metrics verify',
  about: "compares a shop's figures with the records behind them",
  notes: [
    'Compares with what the records give: the summary, the movements and the churn of the last 30',
    'days, the cohorts of the last 12 months, and all sums behind them.',
    'Exit status 1 if anything differs; "retention metrics rebuild" repairs that.',
  ],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, async (store, found) => {
      const { at, figures, sums } = await compare(store, found);
      return { shop, at, ok: figures.length === 0 && sums.length === 0, figures, sums };
    }),
  show: ({ shop, ok, figures, sums }) =>
    ok ? `The figures of shop ${shop} match its records.` : describe(figures, sums),
  end: ({ ok }) => (ok ? exitStatus.done : exitStatus.failed),
});

/** Runs in one transaction, so that both computations see the same records. */
async function compare(store: Store, shop: Shop) {
  const now = systemClock.now();
  return store.write.begin('isolation level repeatable read read only', async (tx) => {
    const figures = await findFigureDifferences(tx, shop, now);
    const sums = [...(await findLedgerDifferences(tx, shop.id))];
    return { at: new Date(now).toISOString(), figures, sums };
  });
}

function describe(figures: readonly FigureDifference[], sums: readonly LedgerDifference[]): string {
  const tables = [
    figures.length > 0 &&
      table(figures, {
        FIGURE: ({ figure }) => figure,
        SERVED: ({ served }) => `${served}`,
        'FROM RECORDS': ({ plain }) => `${plain}`,
      }),
    sums.length > 0 &&
      table(sums, {
        TABLE: (sum) => sum.table,
        ROW: ({ key }) => key,
        STORED: ({ stored }) => stored ?? '(none)',
        EXPECTED: ({ expected }) => expected ?? '(none)',
      }),
  ];
  return tables.filter((each) => each !== false).join('\n\n');
}

const rebuild = defineCommand({
  name: 'metrics rebuild',
  about: "recomputes a shop's figures from its records",
  notes: ['Reads go on meanwhile; imports into the shop wait until it is done.'],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, async (store) => {
      await rebuildMetrics(store.write, shop);
      return { shop, state: 'recomputed' };
    }),
  show: ({ shop }) => `The figures of shop ${shop} have been recomputed.`,
});

export const checkCommands = [verify, rebuild];
