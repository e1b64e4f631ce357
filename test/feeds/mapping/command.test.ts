import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { root, run, throwawayFolder } from '../../cli/process.ts';
import { createShop } from '../../support/world.ts';
import { sample, subscriptions } from './mapped.ts';
import { world } from './stripe/cases.ts';
import { serverUrl } from '../../support/databases.ts';

const target = serverUrl;
const skip = target === undefined && 'PostgreSQL is not available on this machine';
const stripe = path.join(root, 'mappings/stripe-subscriptions.json');
const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

describe('retention import --mapping', { skip, concurrency: 2 }, () => {
  let store: Store;
  before(() => {
    store = connectAll(target ?? '');
  });
  after(() => store.close());

  async function prepare() {
    const shop = await createShop(store);
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

  test('reads standard input, and reports rows that matched no rule', async () => {
    const fixture = await prepare();
    const content = readFileSync(sample('stripe-subscriptions.csv'), 'utf8');
    const { code, out, err } = await fixture.run(['--json', '--mapping', stripe, '-'], content);
    assert.deepEqual(JSON.parse(out), {
      shop: fixture.shop.id,
      counts: { plan: { ...none, stored: 2 }, subscription: { ...none, stored: 3 } },
    });
    assert.equal(err, '1 row matched no rule and was skipped.\n');
    assert.equal(code, 0);
  });

  test('says what a file leaves out, once, and stores the rows', async () => {
    const fixture = await prepare();
    const mapping = path.join(root, 'mappings/stripe-objects.json');
    const cases = world.filter(({ case: name }) => name.startsWith('tiered-without-tiers'));
    const lines = cases.map(({ subscription }) => JSON.stringify(subscription));
    const { code, out, err } = await fixture.run(
      ['--json', '--mapping', mapping, '-'],
      lines.join('\n'),
    );
    assert.deepEqual(JSON.parse(out).counts.subscription, { ...none, stored: 2 });
    assert.equal(
      err,
      '-:1: subscription "sub_1World033": price "price_1World034" has tiers that are not in the data (expand items.data.price.tiers); a stored price stays, a new one is 0\n' +
        '1 more line was stored with the warning of -:1.\n',
    );
    assert.equal(code, 0);
  });

  test('escapes control characters in reasons', async () => {
    const fixture = await prepare();
    const content = readFileSync(sample('stripe-subscriptions.csv'), 'utf8');
    const status = '"\x1b[2J\u202e\nexport.csv:9: forged"';
    writeFileSync(fixture.at('export.csv'), content.replace(',past_due,', `,${status},`));
    const { code, err } = await fixture.run(['--mapping', stripe, 'export.csv']);
    assert.equal(code, 3);
    assert.match(
      err,
      /^export\.csv:4: column Status: "\\u001b\[2J\\u202e\\nexport\.csv:9: forged" is not in its table/,
    );
    assert.doesNotMatch(err, /^export\.csv:9/m);
  });

  test('writes refused rows to stderr and a file, without columns that are not mapped', async () => {
    const fixture = await prepare();
    const content = readFileSync(sample('stripe-subscriptions.csv'), 'utf8');
    writeFileSync(fixture.at('export.csv'), content.replace(',past_due,', ',frozen,'));
    const { code, out, err } = await fixture.run(['--mapping', stripe, 'export.csv']);
    const reason =
      'column Status: "frozen" is not in its table, which has active, trialing, past_due, unpaid, paused, canceled';
    assert.match(err, /^export\.csv:4: column Status: "frozen" is not in its table/);
    assert.equal(code, 3);
    assert.match(out, /\nsubscription {2}2 .* 1\n/);

    const file = readFileSync(fixture.at('export.csv.refused.ndjson'), 'utf8');
    const { text, ...entry } = JSON.parse(file) as { text: string };
    const record = 'subscription sub_1NxC';
    assert.deepEqual(entry, { file: 'export.csv', line: 4, record, reason });
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

  test('refuses a row with an endless list, and imports the others', async () => {
    const fixture = await prepare();
    const row = (id: number, items: string) =>
      `{"id":"sub_${id}","object":"subscription","customer":"cus_${id}","status":"active","created":1700000000,"currency":"usd","items":{"data":[${items}]}}`;
    const item =
      '{"quantity":1,"price":{"id":"price_1","unit_amount":1000,"currency":"usd","product":"prod_1","recurring":{"interval":"month","interval_count":1}}}';
    const endless = [item, ...Array(1_300_000).fill('{}')].join(',');
    const rows = [row(1, item), row(2, endless), row(3, item)];
    writeFileSync(fixture.at('export.json'), `{"data":[\n${rows.join(',\n')}\n]}`);
    const objects = path.join(root, 'mappings/stripe-objects.json');
    const { code, out, err } = await fixture.run(['--mapping', objects, 'export.json']);
    assert.equal(code, 3);
    assert.match(
      err,
      /^export\.json:3: .*column items\.data must have at most 10000 entries \(subscription sub_2\)$/m,
    );
    assert.match(out, /\nsubscription {2}2 .* 1\n/);
  });

  test('exits with 2 for an invalid mapping file, lists its problems and imports nothing', async () => {
    const fixture = await prepare();
    const mapping = { ...subscriptions({}, { status: {} }), extra: 1 };
    writeFileSync(fixture.at('wrong.json'), JSON.stringify(mapping));
    const { code, out, err } = await fixture.run([
      '--mapping',
      'wrong.json',
      sample('stripe-subscriptions.csv'),
    ]);
    assert.equal(code, 2);
    assert.equal(out, '');
    assert.match(err, /wrong\.json is not a mapping:/);
    assert.match(
      err,
      / {2}records\[0\]\.fields\.status must have one of column, value and anyOf\n/,
    );
    assert.match(err, / {2}it has unknown keys: "extra"/);
    assert.equal(await fixture.planCount(), 0);
  });

  test('fails for a missing mapping file, missing columns, or --mapping with --from', async () => {
    const fixture = await prepare();
    const missing = await fixture.run(['--mapping', 'none.json', 'x.csv']);
    assert.equal(missing.code, 1);
    assert.match(missing.err, /none\.json cannot be read: there is no such file\./);

    const recharge = sample('recharge-subscriptions.csv');
    const other = await fixture.run(['--mapping', stripe, recharge]);
    assert.equal(other.code, 1);
    assert.match(
      other.err,
      /has no column "Plan", "Interval", "Status", "id", .* names\. If its first row/,
    );
    assert.equal(await fixture.planCount(), 0);
    assert.equal(existsSync(`${recharge}.refused.ndjson`), false);

    const both = await fixture.run(['--mapping', stripe, '--from', 'shopify', recharge]);
    assert.equal(both.code, 2);
    assert.match(both.err, /--from and --mapping cannot be given together\./);
  });
});
