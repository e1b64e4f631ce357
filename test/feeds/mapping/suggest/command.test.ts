import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { toSummary } from '../../../../src/metrics/figures.ts';
import { summariseMetrics } from '../../../../src/metrics/summary.ts';
import { type Store, connectAll } from '../../../../src/store/open.ts';
import { executable, run, throwawayFolder } from '../../../cli/process.ts';
import { serverUrl } from '../../../support/databases.ts';
import { createShop } from '../../../support/world.ts';
import { telephone } from './churn-tables.ts';

const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';

describe('retention mapping suggest', { skip, concurrency: 2 }, () => {
  let store: Store;
  before(() => {
    store = connectAll(serverUrl ?? '');
  });
  after(() => store.close());

  const prepare = () => {
    const folder = throwawayFolder();
    const env = { DATABASE_URL: serverUrl ?? '', LOG_LEVEL: 'warn' };
    return {
      at: (name: string) => path.join(folder, name),
      run: (...args: string[]) => run(args, { env, cwd: folder }),
    };
  };

  test('suggests a mapping that imports 7,000 customers with exact figures', async () => {
    const fixture = prepare();
    const shop = await createShop(store);
    writeFileSync(fixture.at('customers.csv'), telephone.content);
    const asOf = ['--as-of', '2026-11-01'];
    const suggested = await fixture.run('mapping', 'suggest', ...asOf, 'customers.csv');
    assert.equal(suggested.code, 0);
    assert.match(
      suggested.err,
      /^The file has 7,000 subscriptions of 7,000 customers on 3 plans: /m,
    );
    assert.match(suggested.err, /--mapping MAPPING --as-of 2026-11-01 customers\.csv\n$/);
    // Only what the mapping uses is shown; genders are not.
    assert.doesNotMatch(suggested.err + suggested.out, /female|mailed check|electronic/i);
    writeFileSync(fixture.at('mapping.json'), suggested.out);

    const importing = ['import', '--shop', String(shop.id), '--mapping', 'mapping.json', '--json'];
    const undated = await fixture.run(...importing, 'customers.csv');
    assert.equal(undated.code, 2);
    assert.match(undated.err, /mapping\.json has times that count back .* --as-of 2026-11-01\.\n$/);

    const imported = await fixture.run(...importing, ...asOf, 'customers.csv');
    assert.equal(imported.code, 0, imported.err);
    const rows = await store.write<{ status: string; count: number }[]>`
      select status, count(*)::int as count from subscriptions where shop_id = ${shop.id}
      group by status order by status`;
    assert.deepEqual(
      Object.fromEntries(rows.map(({ status, count }) => [status, count])),
      telephone.figures.statuses,
    );
    const row = await summariseMetrics(store.write, shop.id, Date.now());
    const { mrr } = toSummary(row, shop.currency, Date.now());
    assert.equal(Number(mrr), telephone.figures.mrr);
  });

  test('writes to a new file, and never over another', async () => {
    const fixture = prepare();
    writeFileSync(fixture.at('t.csv'), 'id,price,status\n1,5,active\n2,6,frozen\n');
    const made = await fixture.run('mapping', 'suggest', '--output', 'm.json', 't.csv');
    assert.equal(made.code, 0);
    assert.equal(made.out, '');
    assert.match(made.err, /\n {2}line \d+: "frozen": "paused"|line \d+: no column says/);
    const text = readFileSync(fixture.at('m.json'), 'utf8');
    assert.match(text, /"status": \{/);
    const again = await fixture.run('mapping', 'suggest', '--output', 'm.json', 't.csv');
    assert.equal(again.code, 1);
    assert.match(again.err, /m\.json exists already; choose another name, or delete it first\.\n$/);
    assert.equal(readFileSync(fixture.at('m.json'), 'utf8'), text);
  });

  test('prints no mapping of what it refuses', async () => {
    const fixture = prepare();
    writeFileSync(fixture.at('t.csv'), 'event_type,event_date,user_id\nx,2026-10-01,1\n');
    const refused = await fixture.run('mapping', 'suggest', '--output', 'm.json', 't.csv');
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /^Each row is an event\. .*one row a subscription\.\n$/);
    assert.throws(() => readFileSync(fixture.at('m.json')), { code: 'ENOENT' });
  });

  test('prints one document with --json', async () => {
    const fixture = prepare();
    writeFileSync(fixture.at('t.csv'), 'id,price,status\n1,5,active\n2,6,cancelled\n');
    const { code, out, err } = await fixture.run('mapping', 'suggest', '--json', 't.csv');
    assert.deepEqual([code, err], [0, '']);
    const { mapping, preview, needsAsOf } = JSON.parse(out) as {
      mapping: string;
      preview: { mrr: number; statuses: object };
      needsAsOf: boolean;
    };
    assert.match(mapping, /^\{\n {2}"about"/);
    assert.deepEqual(preview.statuses, { active: 1, cancelled: 1 });
    assert.equal(preview.mrr, 5);
    assert.equal(needsAsOf, false);
  });

  test('says what is wrong with a file, a date or a currency', async () => {
    const fixture = prepare();
    writeFileSync(fixture.at('empty.csv'), '');
    writeFileSync(fixture.at('head.csv'), 'id,price,status\n');
    writeFileSync(fixture.at('words.txt'), 'hello\nworld\n');
    writeFileSync(fixture.at('book.xlsx'), 'PK\u0003\u0004\0\0');
    writeFileSync(fixture.at('quote.csv'), 'id,price,status\n1,5,"active\n2,6,active\n');
    writeFileSync(fixture.at('long.csv'), `id,price,status\n1,5,${'x'.repeat(5_000_000)}\n`);
    const failing = [
      [['quote.csv'], 1, /the row that starts here does not end; [^.]+\?\n$/],
      [['long.csv'], 1, /the row that starts here is longer than 4194304 bytes; [^.]+\.\n$/],
      [['none.csv'], 1, /none\.csv cannot be read: there is no such file\./],
      [['empty.csv'], 1, /empty\.csv has no rows that could be read as CSV or JSON\./],
      [['head.csv'], 1, /head\.csv has no rows that could be read as CSV or JSON\./],
      [['words.txt'], 1, /words\.txt has one column only\. A table of subscriptions/],
      [['book.xlsx'], 1, /book\.xlsx is a workbook .* save its table as CSV first\./],
      [['--as-of', 'today', 'head.csv'], 2, /--as-of must be a date such as 2026-11-01/],
      [['--currency', 'EURO', 'head.csv'], 2, /--currency must be an ISO 4217 code such as USD/],
      [[], 2, /FILE is missing\.\nUsage: retention mapping suggest/],
    ] as const;
    for (const [args, code, message] of failing) {
      const result = await fixture.run('mapping', 'suggest', ...args);
      assert.equal(result.code, code, result.err);
      assert.match(result.err, message);
      assert.equal(result.out, '');
    }
  });
});

// With separate namespaces, any user may mount.
const [program, ...namespace] = ['unshare', '--map-root-user', '--mount'] as const;
const inNamespace = (...command: string[]) => spawnSync(program, [...namespace, ...command]);
const canMount = inNamespace('mount', '-t', 'tmpfs', 'tmpfs', '/mnt').status === 0;

test(
  'a mapping that the disk has no room for is not left half-written',
  { skip: !canMount && 'this system does not allow tests to mount a file system' },
  () => {
    const table = path.join(throwawayFolder(), 'table.csv');
    writeFileSync(table, 'id,customer_id,status,price,created\n1,1,active,5,2026-01-01\n');
    const { stdout, stderr } = inNamespace(
      'sh',
      '-c',
      `mount -t tmpfs -o size=8k tmpfs /mnt && cd /mnt && head -c 8192 /dev/zero >other
       "$0" mapping suggest --output m.json "$1"; echo "exit $?"; ls`,
      executable,
      table,
    );
    assert.equal(String(stdout), 'exit 1\nother\n', String(stderr));
    assert.equal(
      String(stderr),
      'retention: No space is left in /mnt, so m.json was not written. Free some, or choose a file on another disk with --output.\n',
    );
  },
);
