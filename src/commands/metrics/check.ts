import { systemClock } from '../../clock.ts';
import {
  type LedgerDifference,
  findLedgerDifferences,
  rebuildMetrics,
} from '../../metrics/check.ts';
import { type FigureDifference, findFigureDifferences } from '../../metrics/figure-check.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { type Command, exitStatus, formatTable, print, printDone, printJson } from '../command.ts';
import { withShop } from '../keys.ts';

const verify: Command = {
  name: 'metrics verify',
  synopsis: '--shop ID [--json]',
  summary: "compares a shop's figures with the records behind them",
  details: [
    'Compares with what the records give: the summary, the movements and the churn of the last 30 days, the',
    'cohorts of the last 12 months, and all sums behind them.',
    'Exit status 1 if anything differs; "retention metrics rebuild" repairs that.',
  ],
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const { shop, at, figures, sums } = await withShop(context, async (store, found) => ({
      shop: found,
      ...(await compare(store, found)),
    }));
    const isSame = figures.length === 0 && sums.length === 0;
    if (context.options['json']) printJson({ shop: shop.id, at, ok: isSame, figures, sums });
    else if (isSame) print(`The figures of shop ${shop.id} match its records.`);
    else print(describe(figures, sums));
    return isSame ? exitStatus.done : exitStatus.failed;
  },
};

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
  const parts: string[] = [];
  if (figures.length > 0) {
    const rows = figures.map(({ figure, served, plain }) => [figure, `${served}`, `${plain}`]);
    parts.push(formatTable(['FIGURE', 'SERVED', 'FROM RECORDS'], rows));
  }
  if (sums.length > 0) {
    const rows = sums.map(({ table, key, stored, expected }) => [
      table,
      key,
      stored ?? '(none)',
      expected ?? '(none)',
    ]);
    parts.push(formatTable(['TABLE', 'ROW', 'STORED', 'EXPECTED'], rows));
  }
  return parts.join('\n\n');
}

const rebuild: Command = {
  name: 'metrics rebuild',
  synopsis: '--shop ID [--json]',
  summary: "recomputes a shop's figures from its records",
  details: ['Reads go on meanwhile; imports into the shop wait until it is done.'],
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    await withShop(context, async (store, shop) => {
      await rebuildMetrics(store.write, shop.id);
      const document = { shop: shop.id, state: 'recomputed' };
      printDone(context, document, `The figures of shop ${shop.id} have been recomputed.`);
    });
    return exitStatus.done;
  },
};

export const checkCommands = [verify, rebuild];
