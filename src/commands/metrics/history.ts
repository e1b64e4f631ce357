import { systemClock } from '../../clock.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { day } from '../../metrics/bounds.ts';
import type { Cohort, CohortOptions } from '../../metrics/cohort-rows.ts';
import { listHistory } from '../../metrics/history.ts';
import { summariseMovements, toMovements } from '../../metrics/movements.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  formatTable,
  parseId,
  print,
  printJson,
  requiredOption,
} from '../command.ts';
import { withShop } from '../keys.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { hasPlan } from '../../store/records/plans.ts';
import { parsePast } from '../terminal/times.ts';

const maxDays = 3660;
const maxMonths = 36;

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
    const days = parseCount(context, 'days', maxDays);
    const today = Math.floor(systemClock.now() / day) * day;
    const rows = await withShop(context, (store, shop) =>
      listHistory(store.primary, shop, { from: today - days * day, until: today }),
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
    const cells = rows.map(({ day: date, sessions, ...row }) => [
      date,
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

const cohorts: Command = {
  name: 'metrics cohorts',
  synopsis: '--shop ID [--months M] [--plan ID] [--json]',
  summary:
    'prints how many customers of each month, and how much of their MRR, were left by month since',
  details: [
    `--months  how many months, including the current one: from 1 to ${maxMonths} (12)`,
    "--plan    as if there were only this plan's subscriptions",
    'A customer belongs to the UTC month of their first subscription. MRR is at current prices and intervals.',
  ],
  options: {
    shop: { type: 'string' },
    months: { type: 'string', default: '12' },
    plan: { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(context) {
    const months = parseCount(context, 'months', maxMonths);
    const planId =
      context.options['plan'] === undefined
        ? undefined
        : parseId(requiredOption(context, 'plan'), '--plan');
    const { currency, rows } = await withShop(context, async (store, shop) => ({
      currency: shop.currency,
      rows: await readCohorts(store, shop, planId, { months, now: systemClock.now() }),
    }));
    if (context.options['json']) printJson({ currency, cohorts: rows });
    else print(describeCohorts(rows, currency));
    return exitStatus.done;
  },
};

async function readCohorts(
  { primary }: Store,
  shop: Shop,
  planId: number | undefined,
  options: CohortOptions,
): Promise<Cohort[]> {
  if (planId !== undefined && !(await hasPlan(primary.analyse, shop.id, planId))) {
    throw new CommandError(`Shop ${shop.id} has no plan ${planId}.`);
  }
  const selection =
    planId === undefined ? undefined : { segment: { plan: planId }, now: options.now };
  return readFigures(primary, shop, selection, (figures) => figures.cohorts(options));
}

function describeCohorts(rows: readonly Cohort[], currency: string): string {
  if (rows.length === 0) return 'No customer began in these months.';
  const longest = Math.max(...rows.map(({ retained }) => retained.length));
  const headings = ['COHORT', 'CUSTOMERS', ...Array.from({ length: longest }, (_, k) => `+${k}`)];
  const tableOf = (values: 'retained' | 'mrr') =>
    formatTable(
      headings,
      rows.map((each) => [each.month, String(each.customers), ...each[values].map(String)]),
    );
  return [
    'Customers retained at the end of each month since; the last month ends now',
    tableOf('retained'),
    '',
    `Their MRR then, in ${currency}, at current prices and intervals`,
    tableOf('mrr'),
  ].join('\n');
}

const movements: Command = {
  name: 'metrics movements',
  synopsis: '--shop ID --from TIME --to TIME [--json]',
  summary: 'prints what changed the MRR between two times, at current prices and intervals',
  details: [
    '--from, --to  ISO 8601 times such as 2026-11-01T00:00:00Z, or how long ago: 2h, 30d',
    'What happens exactly at --from is included, what happens exactly at --to is not.',
  ],
  options: {
    shop: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(context) {
    const from = parsePast(requiredOption(context, 'from'), '--from').getTime();
    const to = parsePast(requiredOption(context, 'to'), '--to').getTime();
    if (from >= to) throw new UsageError('--from must be earlier than --to.');
    const { currency, ...values } = await withShop(context, async (store, shop) =>
      toMovements(
        await summariseMovements(store.primary.analyse, shop.id, from, to),
        shop.currency,
      ),
    );
    if (context.options['json']) printJson({ currency, ...values });
    else {
      const rows = Object.entries(values).map(([name, value]) => [name, String(value)]);
      print(formatTable(['MRR', currency], rows));
    }
    return exitStatus.done;
  },
};

/** @throws UsageError unless the option is an integer from 1 to `max` */
function parseCount(context: CommandContext, name: string, max: number): number {
  const text = requiredOption(context, name);
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) {
    throw new UsageError(`--${name} must be from 1 to ${max}, not "${text}".`);
  }
  return count;
}

export const historyCommands = [history, cohorts, movements];
