import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { root, run, throwawayFolder } from '../../cli/process.ts';
import { createShop } from '../../support/world.ts';
import { sample, subscriptions } from './mapped.ts';

const target = process.env['TEST_POSTGRES'];
const skip = target === undefined && 'PostgreSQL could not be had on this machine';
const stripe = path.join(root, 'mappings/stripe-subscriptions.json');
const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

describe('retention import --mapping', { skip, concurrency: 2 }, () => {
  let store: Omit<Store, 'failed'>;
  before(() => {
    store = connectAll(target ?? '');
  });
  after(() => store.close());

  async function prepare() {
    const shop = await createShop(store as Store);
    const folder = throwawayFolder();
    return {
      shop,
      at: (name: string) => path.join(folder, name),
      run: async (args: readonly string[], input = '') => {
        const env = { DATABASE_URL: target ?? '', LOG_LEVEL: 'warn' };
        const all = ['import', '--shop', String(shop.id), ...args];
        const { code, out, err } = await run(all, { env, cwd: folder, input });
        return { code, out, err };
      },
      planCount: async () => {
        const [row] = await store.write<{ count: number }[]>`
          select count(*)::int as count from plans where shop_id = ${shop.id}`;
        return row?.count;
      },
    };
  }

  test('standard input; rows that gave nothing are told of', async () => {
    const place = await prepare();
    const content = readFileSync(sample('stripe-subscriptions.csv'), 'utf8');
    const { code, out, err } = await place.run(['--json', '--mapping', stripe, '-'], content);
    assert.deepEqual(JSON.parse(out), {
      shop: place.shop.id,
      counts: { plan: { ...none, stored: 2 }, subscription: { ...none, stored: 3 } },
    });
    assert.equal(
      err,
      'Rows to which no condition of the mapping applies, and which gave nothing: 1.\n',
    );
    assert.equal(code, 0);
  });

  test('what a reason quotes cannot move the cursor or forge a line', async () => {
    const place = await prepare();
    const content = readFileSync(sample('stripe-subscriptions.csv'), 'utf8');
    const status = '"\x1b[2J\u202e\nexport.csv:9: forged"';
    writeFileSync(place.at('export.csv'), content.replace(',past_due,', `,${status},`));
    const { code, err } = await place.run(['--mapping', stripe, 'export.csv']);
    assert.equal(code, 3);
    assert.match(
      err,
      /^export\.csv:4: column Status: "\\u001b\[2J\\u202e\\nexport\.csv:9: forged" is not in its table/,
    );
    assert.doesNotMatch(err, /^export\.csv:9/m);
  });

  test('refused rows: reasons on standard error and in the file, where no other columns are', async () => {
    const place = await prepare();
    const content = readFileSync(sample('stripe-subscriptions.csv'), 'utf8');
    writeFileSync(place.at('export.csv'), content.replace(',past_due,', ',frozen,'));
    const { code, out, err } = await place.run(['--mapping', stripe, 'export.csv']);
    const reason =
      'column Status: "frozen" is not in its table, which has active, trialing, past_due, unpaid, paused, canceled';
    assert.match(err, /^export\.csv:4: column Status: "frozen" is not in its table/);
    assert.equal(code, 3);
    assert.match(out, /\nsubscription {2}2 .* 1\n/);

    const file = readFileSync(place.at('export.csv.refused.ndjson'), 'utf8');
    const { text, ...entry } = JSON.parse(file) as { text: string };
    assert.deepEqual(entry, { file: 'export.csv', line: 4, reason });
    assert.deepEqual(JSON.parse(text), {
      type: 'subscription',
      rows: [
        {
          line: 4,
          columns: {
            id: 'sub_1NxC',
            'Customer ID': 'cus_Cc3',
            Plan: 'price_year',
            Status: 'frozen',
            'Created (UTC)': '2025-12-31 23:59',
            'Current Period End (UTC)': '2026-12-31 23:59',
            Currency: 'usd',
            'Ended At (UTC)': '',
            Quantity: '1',
            Amount: '490.00',
          },
        },
      ],
    });
    assert.doesNotMatch(file + err + out, /planted/i);
  });

  test('a wrong mapping file: everything that is wrong in it, status 2, nothing imported', async () => {
    const place = await prepare();
    const mapping = { ...subscriptions({}, { status: {} }), extra: 1 };
    writeFileSync(place.at('wrong.json'), JSON.stringify(mapping));
    const { code, out, err } = await place.run([
      '--mapping',
      'wrong.json',
      sample('stripe-subscriptions.csv'),
    ]);
    assert.equal(code, 2);
    assert.equal(out, '');
    assert.match(err, /wrong\.json is not a mapping:/);
    assert.match(err, / {2}records\[0\]\.fields\.status must have one of column and value\n/);
    assert.match(err, / {2}it has "extra", which is not known here/);
    assert.equal(await place.planCount(), 0);
  });

  test('no mapping file, a file of other columns, and two ways at once', async () => {
    const place = await prepare();
    const missing = await place.run(['--mapping', 'none.json', 'x.csv']);
    assert.equal(missing.code, 1);
    assert.match(missing.err, /none\.json cannot be read: there is no such file\./);

    const recharge = sample('recharge-subscriptions.csv');
    const other = await place.run(['--mapping', stripe, recharge]);
    assert.equal(other.code, 1);
    assert.match(
      other.err,
      /has no column "Plan", "Interval", "Status", "id", .* names\. Is its first/,
    );
    assert.equal(await place.planCount(), 0);
    assert.equal(existsSync(`${recharge}.refused.ndjson`), false);

    const both = await place.run(['--mapping', stripe, '--from', 'shopify', recharge]);
    assert.equal(both.code, 2);
    assert.match(both.err, /--from and --mapping cannot be given together\./);
  });
});
