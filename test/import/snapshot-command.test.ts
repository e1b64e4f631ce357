import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Store, connectAll } from '../../src/store/open.ts';
import { run, throwawayFolder } from '../cli/process.ts';
import { subscriptions } from '../feeds/mapping/mapped.ts';
import { plan, subscription } from '../rest/records.ts';
import { serverUrl } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL: serverUrl ?? '', LOG_LEVEL: 'warn' };
const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

describe('retention import --complete', { skip, concurrency: 2 }, () => {
  let store: Store;
  before(() => {
    store = connectAll(serverUrl as string);
  });
  after(() => store.close());

  async function prepare(planIds: readonly number[], records = planIds) {
    const { id } = await createShop(store);
    const folder = throwawayFolder();
    const write = (name: string, lines: readonly (string | object)[]) =>
      writeFileSync(
        path.join(folder, name),
        lines.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join(''),
      );
    write(
      'plans.ndjson',
      records.map((each) => plan({ id: each })),
    );
    const command = (...args: string[]) =>
      run(['import', '--shop', String(id), ...args], { env, cwd: folder });
    return { id, write, command };
  }

  test('exits with 1 if more than a fifth is gone, and deletes it with --allow-shrink', async () => {
    const { id, write, command } = await prepare([1, 2, 3]);
    assert.equal((await command('--complete', 'plans.ndjson')).code, 0);
    write('plans.ndjson', [plan({ id: 1 }), plan({ id: 2 })]);
    const { code, out, err } = await command('--complete', '--json', 'plans.ndjson');
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(out), {
      shop: id,
      counts: { plan: { ...none, unchanged: 2 } },
      snapshot: { kind: 'shrunk', shrunk: [{ type: 'plan', gone: 1, before: 3 }] },
    });
    assert.equal(
      err,
      'retention: Nothing was deleted or cancelled: 1 of 3 plans are not in the input, more than a fifth. If the input is complete, run the command again with --allow-shrink; otherwise with a complete one.\n',
    );
    const allowed = await command('--complete', '--allow-shrink', 'plans.ndjson');
    assert.deepEqual([allowed.code, allowed.err], [0, '']);
    assert.match(allowed.out, /^plan +0 +0 +1 +2 +0 +0$/m);
  });

  test('says why nothing was deleted if a line has no id', async () => {
    const { write, command } = await prepare([1]);
    write('plans.ndjson', [plan({ id: 1 }), 'no JSON']);
    const { code, err } = await command('--complete', 'plans.ndjson');
    assert.equal(code, 3);
    assert.match(
      err,
      /^Nothing was deleted or cancelled: plans\.ndjson:2 has no id that can be read, so any record may be in the input\.$/m,
    );
  });

  test('--as-of dates an export, and a mapping without dates of cancellations is warned of', async () => {
    const { id, write, command } = await prepare([]);
    await importAll(store, { ...(await createShop(store)), id }, [plan()]);
    write('mapping.json', [subscriptions({}, { status: 'status' })]);
    const rows = (price: string) => [
      'id,customer,created,price,status',
      `1,501,2026-05-01T00:00:00Z,${price},active`,
    ];
    write('new.csv', rows('2.00'));
    write('old.csv', rows('1.00'));
    const mapped = ['--mapping', 'mapping.json', '--as-of'];
    const newer = await command(...mapped, '2026-11-12', 'new.csv');
    assert.equal(newer.code, 0);
    assert.match(
      newer.err,
      /^The mapping has no dates of cancellations, so each counts at the date of the first export that has it, or in no period if none before shows it otherwise\./,
    );
    assert.match(
      (await command(...mapped, '2026-11-11T23:59:59Z', 'old.csv')).out,
      /^subscription +0 +0 +0 +0 +1 +0$/m,
    );
  });

  test('--as-of dates records of our own format, in whatever order their exports come', async () => {
    const { id, write, command } = await prepare([]);
    const recordOf = (each: number, status = 'active') =>
      subscription(each, { createdAt: '2025-05-01T00:00:00Z', updatedAt: undefined, status });
    const complete = async (day: string, records: readonly object[]) => {
      write('records.ndjson', [plan(), ...records]);
      const args = ['--complete', '--gone', 'cancelled', '--allow-shrink', '--as-of', day];
      assert.equal((await command(...args, 'records.ndjson')).code, 0);
    };
    const all = [1, 2, 3].map((each) => recordOf(each));
    const fewer = [recordOf(1), recordOf(2, 'cancelled')];
    await complete('2025-06-01', all);
    await complete('2025-09-01', fewer);
    await complete('2025-08-01', fewer);
    await complete('2025-07-01', all);
    const { out } = await run(['shops', 'export', '--id', String(id)], { env });
    assert.deepEqual(
      out.split('\n').flatMap((line) => {
        const { type, id: key, statusEvents } = line === '' ? {} : JSON.parse(line);
        return type === 'subscription' ? [[key, statusEvents]] : [];
      }),
      [1, 2, 3].map((key) => [
        key,
        key === 1 ? undefined : [{ at: '2025-08-01T00:00:00.000Z', to: 'cancelled' }],
      ]),
    );
  });

  test('cancels what a mapped export lacks, unless --gone deleted, and says how many dates are unknown', async () => {
    const { id, write, command } = await prepare([]);
    await importAll(store, { ...(await createShop(store)), id }, [plan()]);
    write('mapping.json', [subscriptions({}, { status: 'status' })]);
    const rows = (ids: readonly number[], ...ended: readonly number[]) => [
      'id,customer,created,price,status',
      ...ids.map((each) => `${each},501,2025-05-01T00:00:00Z,1.00,active`),
      ...ended.map((each) => `${each},501,2025-05-01T00:00:00Z,1.00,cancelled`),
    ];
    const complete = async (day: string, lines: readonly string[], ...args: readonly string[]) => {
      write('export.csv', lines);
      const dated = ['--mapping', 'mapping.json', '--complete', '--json', '--as-of', day];
      const { code, out, err } = await command(...dated, ...args, 'export.csv');
      assert.equal(code, 0);
      const { snapshot, undatedSubscriptions } = JSON.parse(out);
      return { snapshot, undatedSubscriptions, err };
    };
    const first = await complete('2025-11-01', rows([1, 2, 3, 4, 5, 6], 7));
    assert.equal(first.undatedSubscriptions, 1);
    assert.match(first.err, /^1 subscription has ended or paused at an unknown time/m);
    const second = await complete('2025-12-01', rows([2, 3, 4, 5, 6]));
    assert.equal(second.snapshot.cancelled, 1);
    assert.match(second.err, /^1 subscription is not in the input, and therefore cancelled\.$/m);
    const third = await complete(
      '2026-01-01',
      rows([2, 3, 4, 5, 6]),
      '--gone',
      'deleted',
      '--allow-shrink',
    );
    assert.deepEqual(third.snapshot.deleted, { subscription: 2 });
  });

  test('refuses options that do not fit together', async () => {
    const { command } = await prepare([1]);
    const problem = async (...args: string[]) => {
      const { code, err } = await command(...args, 'plans.ndjson');
      return [code, err.split('\n')[0]];
    };
    assert.deepEqual(await problem('--types', 'plan'), [2, 'retention: --types needs --complete.']);
    assert.deepEqual(await problem('--allow-shrink'), [
      2,
      'retention: --allow-shrink needs --complete.',
    ]);
    assert.deepEqual(await problem('--gone', 'deleted'), [
      2,
      'retention: --gone needs --complete.',
    ]);
    assert.deepEqual(await problem('--complete', '--gone', 'paused'), [
      2,
      'retention: --gone must be cancelled or deleted, not "paused".',
    ]);
    assert.deepEqual(await problem('--complete', '--types', 'plan,plans'), [
      2,
      'retention: --types takes some of plan, subscription, payment, refund, cancellation, joined by commas, not "plan,plans".',
    ]);
    assert.deepEqual(await problem('--as-of', '2026-11-12', '--from', 'shopify'), [
      2,
      'retention: --from and --as-of cannot be given together.',
    ]);
    assert.deepEqual(await problem('--as-of', 'yesterday', '--mapping', 'm.json'), [
      2,
      'retention: --as-of must be a date such as 2026-11-01, or a time such as 2026-11-01T06:00:00Z, not "yesterday".',
    ]);
    assert.deepEqual(await problem('--as-of', '2999-01-01', '--mapping', 'm.json'), [
      2,
      'retention: --as-of must be the date of the export, and 2999-01-01 is in the future.',
    ]);
  });
});
