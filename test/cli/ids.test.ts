import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { subscriptions } from '../feeds/mapping/mapped.ts';
import { plan } from '../rest/records.ts';
import { newShopId, run, throwawayFolder } from './process.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const retention = (...args: string[]) => run(args, { env: { DATABASE_URL, LOG_LEVEL: 'warn' } });

describe('ids', { skip }, () => {
  const shop = newShopId();
  const customer = deriveId('customer', 'cus_1');

  before(async () => {
    const folder = throwawayFolder();
    const write = (name: string, content: string) => {
      writeFileSync(path.join(folder, name), content);
      return path.join(folder, name);
    };
    const plans = write('plans.ndjson', JSON.stringify(plan()));
    const mapping = { ...subscriptions(), formats: { ids: 'text' } };
    const mapped = ['--mapping', write('mapping.json', JSON.stringify(mapping))];
    const rows = ['id,customer,created,price', 'sub_1,cus_1,2026-11-01T00:00:00Z,1.00'];
    for (const args of [
      ['shops', 'create', '--id', shop, '--name', 'Shop', '--currency', 'USD'],
      ['import', '--shop', shop, plans],
      ['import', '--shop', shop, ...mapped, write('export.csv', rows.join('\n'))],
    ]) {
      const { code, err } = await retention(...args);
      assert.equal(code, 0, err);
    }
  });

  test('finds a record by its id at the source, and vice versa', async () => {
    for (const text of ['cus_1', String(customer)]) {
      const { code, out } = await retention('ids', '--shop', shop, '--customer', text, '--json');
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(out), { kind: 'customer', id: customer, sourceId: 'cus_1' });
    }
    const { out } = await retention('ids', '--shop', shop, '--subscription', 'sub_1');
    const id = deriveId('subscription', 'sub_1');
    assert.equal(out, `KIND          ID                SOURCE ID\nsubscription  ${id}  sub_1\n`);
    const numbered = await retention('ids', '--shop', shop, '--plan', '11');
    assert.equal(numbered.out, 'KIND  ID  SOURCE ID\nplan  11  (unknown)\n');
  });

  test('says which record was not found, or which options are missing', async () => {
    const cases: [number, string, ...string[]][] = [
      [1, `Shop ${shop} has no customer cus_2.`, '--customer', 'cus_2'],
      [1, `Shop ${shop} has no plan cus_1.`, '--plan', 'cus_1'],
      [2, 'Give exactly one of --plan, --subscription, --customer'],
      [2, '--customer needs a value.', '--customer', ' '],
      [2, 'Give exactly one of', '--customer', 'cus_1', '--plan', '11'],
    ];
    for (const [status, reason, ...args] of cases) {
      const { code, out, err } = await retention('ids', '--shop', shop, ...args);
      assert.deepEqual([code, out], [status, ''], reason);
      assert.ok(err.includes(reason), err);
    }
  });
});
