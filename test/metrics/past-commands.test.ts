import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { readFigures } from '../../src/metrics/segments/figures.ts';
import { connectAll } from '../../src/store/open.ts';
import { newShopId, run } from '../cli/process.ts';
import { serverUrl } from '../support/databases.ts';
import { plan, subscription } from '../rest/records.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL, LOG_LEVEL: 'warn' };
const shop = newShopId();

/** A day of a month before this one: the commands read the clock. */
function timeOf(monthsAgo: number, date: number): string {
  const today = new Date();
  return new Date(
    Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsAgo, date),
  ).toISOString();
}

const [january, february, march] = [timeOf(10, 1), timeOf(9, 1), timeOf(8, 1)];
const [first, second] = [january.slice(0, 7), february.slice(0, 7)];

/** Yen, so that amounts have no decimals: 1000 a month, 12,000 a year on the same plan, 500 a week on another. */
const records = [
  plan(),
  plan({ id: 12 }),
  of(1, 1, 11, '1000', timeOf(10, 10), {}),
  of(2, 1, 11, '12000', timeOf(9, 10), { intervalUnit: 'year', intervalCount: 1 }),
  of(3, 2, 12, '500', timeOf(9, 20), {
    intervalUnit: 'week',
    intervalCount: 1,
    status: 'failed',
    statusEvents: [{ at: march, to: 'failed' }],
  }),
];

function of(
  id: number,
  customerId: number,
  planId: number,
  currentPrice: string,
  createdAt: string,
  more: object,
) {
  const lines = [{ lineId: 1, productId: 1, productTitle: 'Tea', variantId: 1, quantity: 1 }];
  const priced = lines.map((line) => ({ ...line, currentPrice }));
  return subscription(id, { customerId, planId, lines: priced, createdAt, ...more });
}

/** What is wrong in the options of an explanation, and what is said of it. */
const explaining: [string[], RegExp][] = (
  [
    [
      ['--figure=x', '--by=plan'],
      /^retention: --figure must be one of churnRate, mrr, newSubscribers, recoveryRate, saveRate, not "x"/,
    ],
    [
      ['--figure=mrr', '--by=x'],
      /^retention: --by must be one of plan, interval, age, price, source, reason, not "x"/,
    ],
    [
      ['--figure=mrr', '--by=reason'],
      /^retention: mrr has no reason: --by must be one of plan, interval, age, price, source\.\n$/,
    ],
    [
      ['--figure=mrr', '--by=plan', '--before-from=3d'],
      /^retention: --before-from and --before-to must be given together\.\n$/,
    ],
    [
      ['--figure=mrr', '--by=plan', '--before-from=3d', '--before-to=3d'],
      /^retention: --before-from must be earlier than --before-to\.\n$/,
    ],
  ] as [string[], RegExp][]
).map(([args, message]) => [[...args, '--from=2d', '--to=1d'], message]);

const metrics = (...args: string[]) => run(['metrics', ...args], { env });

describe('metrics movements, cohorts and explain', { skip }, () => {
  before(async () => {
    await run(['shops', 'create', '--id', shop, '--name', 'x', '--currency', 'JPY'], { env });
    const input = records.map((record) => JSON.stringify(record)).join('\n');
    assert.equal((await run(['import', '--shop', shop, '-'], { env, input })).code, 0);
  });

  const movements = (from: string, to: string, ...more: string[]) =>
    metrics('movements', '--shop', shop, `--from=${from}`, `--to=${to}`, ...more);

  test('prints the movements between two times', async () => {
    const found = await movements(february, march.replace('.000Z', '.001Z'), '--json');
    assert.deepEqual(
      [found.code, found.out],
      [
        0,
        '{"currency":"JPY","opening":1000,"new":2173,"added":1000,"resumed":0,"reactivated":0,' +
          '"expansion":0,"contraction":0,"paused":0,"cancelled":0,"expired":0,"failed":2173,"closing":2000}\n',
      ],
    );
    const { out } = await movements(february.replace('Z', '+00:00'), march);
    assert.match(out, /^MRR +JPY\nopening +1000\nnew +2173\nadded +1000\n[^]*\nclosing +4173\n$/);
  });

  test('prints what became of the revenue between two times', async () => {
    const ends = [`--from=${february}`, `--to=${march.replace('.000Z', '.001Z')}`];
    const found = await metrics('retention', '--shop', shop, ...ends, '--json');
    // Customer 1 has 2000 of 1000. (500 × 365/84 + 1000) came, the former left.
    assert.equal(
      found.out,
      '{"currency":"JPY","opening":1000,"closing":2000,"net":2,"gross":1,"quickRatio":1.4603,"arpa":2000}\n',
    );
    // Customer 1 came in January; who came in February left in it.
    const cohorts = await metrics('retention', '--shop', shop, ...ends, '--by-cohort', '--json');
    assert.equal(
      cohorts.out,
      '{"currency":"JPY","cohorts":[{"month":"2026-01","opening":1000,"closing":2000,"net":2,"gross":1},' +
        '{"month":"2026-02","opening":0,"closing":0,"net":null,"gross":null}]}\n',
    );
    const { out } = await metrics(
      'retention',
      '--shop',
      shop,
      '--from=2020-01-01T00:00:00Z',
      '--to=2020-02-01T00:00:00Z',
    );
    assert.match(out, /^FIGURE +VALUE\ncurrency +JPY\nopening +0\nclosing +0\nnet +none\n/);
    const { code, err } = await metrics(
      'retention',
      '--shop',
      shop,
      ...ends
        .toReversed()
        .map((each) =>
          each.startsWith('--from')
            ? each.replace('--from', '--to')
            : each.replace('--to', '--from'),
        ),
    );
    assert.deepEqual([code, err.includes('--from must be earlier than --to.')], [2, true]);
  });

  test('prints the cohorts, of all plans or of one', async () => {
    const found = await metrics('cohorts', '--shop', shop, '--months=36', '--json');
    assert.equal(found.code, 0);
    const { currency, cohorts } = JSON.parse(found.out);
    assert.equal(currency, 'JPY');
    const firsts = (
      all: { month: string; customers: number; retained: number[]; mrr: number[] }[],
    ) =>
      all.map((each) => [
        each.month,
        each.customers,
        each.retained.slice(0, 3),
        each.mrr.slice(0, 3),
      ]);
    assert.deepEqual(Object.keys(cohorts[0]), ['month', 'customers', 'retained', 'mrr']);
    assert.deepEqual(firsts(cohorts), [
      [first, 1, [1, 1, 1], [1000, 2000, 2000]],
      [second, 1, [1, 0, 0], [2173, 0, 0]],
    ]);
    const ofPlan = await metrics('cohorts', '--shop', shop, '--months=36', '--plan=12', '--json');
    assert.deepEqual(firsts(JSON.parse(ofPlan.out).cohorts), [
      [second, 1, [1, 0, 0], [2173, 0, 0]],
    ]);
    const table = await metrics('cohorts', '--shop', shop, '--months=36');
    const [, retained, , values] = table.out.split(/^(?=COHORT|Their MRR)/m);
    const rowsOf = (text = '') =>
      text.split('\n').map((row) => row.split(/ +/).slice(0, 4).join(' '));
    assert.deepEqual(rowsOf(retained).slice(0, 3), [
      'COHORT CUSTOMERS +0 +1',
      `${first} 1 1 1`,
      `${second} 1 1 0`,
    ]);
    assert.deepEqual(rowsOf(values).slice(1, 3), [`${first} 1 1000 2000`, `${second} 1 2173 0`]);
  });

  test('refuses wrong values', async () => {
    const wrong: [string[], RegExp][] = [
      [
        ['cohorts', '--months=0'],
        /^retention: --months must be a whole number from 1 to 36, not "0"\.\n$/,
      ],
      [
        ['cohorts', '--months=37'],
        /^retention: --months must be a whole number from 1 to 36, not "37"\.\n$/,
      ],
      [
        ['cohorts', '--months=1e1'],
        /^retention: --months must be a whole number from 1 to 36, not "1e1"\.\n$/,
      ],
      [['cohorts', '--plan=x'], /^retention: --plan must be an integer from 1 to .*, not "x"\.\n$/],
      [
        ['movements', '--from=2h'],
        /^retention: --to is missing\.\nUsage: retention metrics movements/,
      ],
      [
        ['movements', '--to=2h'],
        /^retention: --from is missing\.\nUsage: retention metrics movements/,
      ],
      [['movements', '--from=2026-02-30T00:00:00Z', '--to=1h'], /^retention: --from takes a date /],
      [['movements', '--from=2026-02', '--to=1h'], /^retention: --from takes a date /],
      [
        ['movements', '--from=2h', '--to=2999-01-01T00:00:00Z'],
        /^retention: --to must not be in the/,
      ],
      [['movements', '--from=1h', '--to=2h'], /^retention: --from must be earlier than --to\.\n$/],
      ...explaining.map(([args, message]): [string[], RegExp] => [['explain', ...args], message]),
    ];
    for (const [args, message] of wrong) {
      const { code, err, out } = await metrics(...args, '--shop', shop);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
      assert.match(err, message);
    }
    const { code, err } = await metrics('cohorts', '--shop', shop, '--plan=99');
    assert.deepEqual([code, err], [1, `retention: Shop ${shop} has no plan 99.\n`]);
  });

  test('explains a change', async () => {
    // The third failed at the start of March, which is the second period; both others began before.
    const times = [`--from=${timeOf(9, 25)}`, `--to=${timeOf(8, 25)}`];
    const asked = ['explain', '--shop', shop, '--figure=churnRate', '--by=plan', ...times];
    const { code, out } = await metrics(...asked, '--json');
    assert.equal(code, 0);
    const values = [
      '{"value":12,"label":"Monthly box","before":{"n":0,"d":1},"now":{"n":1,"d":1},',
      '"rate":0.3333333333333333,"mix":0,"part":0.3333333333333333,"isChance":true},',
      '{"value":11,"label":"Monthly box","before":{"n":0,"d":2},"now":{"n":0,"d":2},',
      '"rate":0,"mix":0,"part":0,"isChance":true}',
    ];
    assert.equal(
      out,
      `{"figure":"churnRate","by":"plan","before":0,"now":0.3333333333333333,"change":0.3333333333333333,"values":[${values.join('')}]}\n`,
    );
    const table = (await metrics(...asked)).out.split('\n').map((row) => row.split(/ {2,}/));
    assert.deepEqual(table.slice(0, 3), [
      ['churnRate: 0 before, 0.3333 now, change 0.3333'],
      ['PLAN', 'BEFORE', 'NOW', 'RATE', 'MIX', 'PART'],
      ['Monthly box', '0 of 1', '1 of 1', '0.3333', '0', '0.3333', 'may be chance'],
    ]);
    // 1000 a month and 500 a week at the first end; both others at the second, 12,000 a year.
    const ends = [`--before-from=${timeOf(10, 1)}`, `--before-to=${timeOf(10, 20)}`, ...times];
    const mrr = await metrics(
      'explain',
      '--shop',
      shop,
      '--figure=mrr',
      '--by=interval',
      ...ends,
      '--json',
    );
    assert.equal(
      mrr.out,
      '{"figure":"mrr","by":"interval","before":1000,"now":2000,"change":1000,"values":[' +
        '{"value":"year-1","label":"Every year","before":{"n":0},"now":{"n":1000},"part":1000,"isChance":false},' +
        '{"value":"month-1","label":"Every month","before":{"n":1000},"now":{"n":1000},"part":0,"isChance":false}]}\n',
    );
  });

  test('an empty shop has no cohorts, and nothing moves', async () => {
    const empty = newShopId();
    await run(['shops', 'create', '--id', empty, '--name', 'x', '--currency', 'KWD'], { env });
    const { out } = await metrics('cohorts', '--shop', empty, '--json');
    assert.equal(out, '{"currency":"KWD","cohorts":[]}\n');
    const table = await metrics('cohorts', '--shop', empty);
    assert.equal(table.out, 'No customer began in these months.\n');
    const moved = await metrics('movements', '--shop', empty, '--from=30d', '--to=1h', '--json');
    assert.match(moved.out, /^{"currency":"KWD","opening":0,"new":0,.*,"closing":0}\n$/);
  });

  test('metrics verify compares both with the records', async () => {
    assert.equal((await metrics('verify', '--shop', shop)).code, 0);
    const { write, close } = connectAll(DATABASE_URL);
    const { count } = await write`
      update metric_ledger set count = count + 5
      where shop_id = ${shop} and grain = 'month' and fact = ${`cohort ${first} retained`}`;
    assert.equal(count, 1);
    await write`
      update metric_ledger set amount = amount + 60
      where shop_id = ${shop} and grain = 'all' and fact = 'active month 1 new'`;
    await close();
    const { code, out } = await metrics('verify', '--shop', shop);
    assert.equal(code, 1);
    assert.match(out, new RegExp(`\\ncohort ${first} retained 0 +6 +1\\n`));
    assert.match(out, /\nmovements closing +2060 +2000\n/);
    assert.match(
      out,
      new RegExp(`\nmetric_ledger +month ${first}.* cohort ${first} retained +6 0 +1 0`),
    );
    await metrics('rebuild', '--shop', shop);
    assert.equal((await metrics('verify', '--shop', shop)).code, 0);
  });

  test('figures of a segment that take too long say so, and what to do', async () => {
    const { write, primary, close } = connectAll(DATABASE_URL);
    const rollback = new Error('taken back');
    const read = (milliseconds: number) =>
      readFigures(
        primary,
        { id: Number(shop), currency: 'JPY' },
        { segment: { plan: 12 }, now: Date.now() },
        (figures) => figures.cohorts({ months: 36, now: Date.now() }),
        { milliseconds },
      );
    const locking = write.begin(async (tx) => {
      await tx`lock table plans in access exclusive mode`;
      await assert.rejects(read(50), {
        name: 'CommandError',
        message:
          'What a segment has is computed from its records, and that took longer than 0.05 s. Choose a smaller segment or a shorter period.',
      });
      throw rollback;
    });
    await assert.rejects(locking, rollback);
    // The limit was that of one transaction.
    assert.notEqual((await read(60_000)).length, 0);
    await close();
  });
});
