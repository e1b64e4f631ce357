import { systemClock } from '../clock.ts';
import { UsageError } from '../errors.ts';
import { toSummary } from '../metrics/figures.ts';
import { listHistory } from '../metrics/history.ts';
import { type LedgerDifference, findLedgerDifferences, rebuildMetrics } from '../metrics/check.ts';
import { summariseFromRecords } from '../metrics/plain.ts';
import { summariseMetrics } from '../metrics/summary.ts';
import type { Store } from '../store/open.ts';
import type { Shop } from '../store/shops.ts';
import {
  type Command,
  exitStatus,
  formatTable,
  print,
  printJson,
  requiredOption,
} from './command.ts';
import { withShop } from './keys.ts';

const failed = 1;
const maxDays = 3660;

interface FigureDifference {
  readonly figure: string;
  readonly served: unknown;
  readonly plain: unknown;
}

const verify: Command = {
  name: 'metrics verify',
  synopsis: '--shop ID [--json]',
  summary: "compares a shop's figures with the records behind them",
  details: [
    'Compares the served summary, and all sums behind it, with what the records give.',
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
    return isSame ? exitStatus.done : failed;
  },
};

/** Runs in one transaction, so that both computations see the same records. */
async function compare(store: Store, shop: Shop) {
  const now = systemClock.now();
  return store.write.begin('isolation level repeatable read read only', async (tx) => {
    const served = toSummary(await summariseMetrics(tx, shop.id, now), shop.currency, now);
    const plain = toSummary(await summariseFromRecords(tx, shop.id, now), shop.currency, now);
    const names = Object.keys(plain) as (keyof typeof plain)[];
    const figures = names
      .filter((name) => served[name] !== plain[name])
      .map((name): FigureDifference => ({
        figure: name,
        served: served[name],
        plain: plain[name],
      }));
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
  synopsis: '--shop ID',
  summary: "recomputes a shop's figures from its records",
  details: ['Reads go on meanwhile; imports into the shop wait until it is done.'],
  options: { shop: { type: 'string' } },
  async run(context) {
    await withShop(context, async (store, shop) => {
      await rebuildMetrics(store.write, shop.id);
      print(`The figures of shop ${shop.id} have been recomputed.`);
    });
    return exitStatus.done;
  },
};

const history: Command = {
  name: 'metrics history',
  synopsis: '--shop ID [--days N] [--json]',
  summary: 'prints the figures of each of the last complete UTC days',
  details: [`--days  from 1 to ${maxDays} (30)`],
  options: {
    shop: { type: 'string' },
    days: { type: 'string', default: '30' },
    json: { type: 'boolean' },
  },
  async run(context) {
    const days = parseDays(requiredOption(context, 'days'));
    const rows = await withShop(context, (store, shop) =>
      listHistory(store.primary, shop, days, systemClock.now()),
    );
    if (context.options['json']) {
      printJson(rows);
      return exitStatus.done;
    }
    const headings = [
      'DAY',
      'ACTIVE',
      'MRR',
      'NEW',
      'CANCELLED',
      'REVENUE',
      'FAILED',
      'RECOVERED',
      'SAVED',
      'SESSIONS',
    ];
    const cells = rows.map(({ day, sessions, ...row }) => [
      day,
      ...[row.activeSubscribers, row.mrr, row.newSubscribers, row.cancelled, row.revenue].map(
        String,
      ),
      String(row.failedPayments),
      String(row.recoveredPayments),
      String(sessions.saved),
      String(sessions.saved + sessions.cancelled + sessions.abandoned + sessions.inProgress),
    ]);
    print(formatTable(headings, cells));
    return exitStatus.done;
  },
};

function parseDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > maxDays) {
    throw new UsageError(`--days must be from 1 to ${maxDays}, not "${text}".`);
  }
  return days;
}

export const metricsCommands = [verify, rebuild, history];
