import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { deriveCustomerId } from '../../src/ingest/source-ids.ts';
import { subscriptions } from '../feeds/mapping/mapped.ts';
import { plan } from '../rest/records.ts';
import { serverUrl } from '../support/databases.ts';
import { newShopId, run, throwawayFolder } from './process.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const retention = (...args: string[]) => run(args, { env: { DATABASE_URL, LOG_LEVEL: 'debug' } });

describe('customers known by e-mail addresses, on the command line', { skip }, () => {
  const shop = newShopId();
  const folder = throwawayFolder();
  const write = (name: string, content: string) => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const imported: string[] = [];
  let importing: readonly string[] = [];

  const customerKey = async (): Promise<string> => {
    const { out } = await retention('customer-key', '--shop', shop, '--json');
    const { key, ...rest } = JSON.parse(out);
    assert.deepEqual(rest, { shop: Number(shop) });
    return key;
  };
  const idOf = async (address: string) => {
    const { code, out, err } = await retention(
      'ids',
      '--shop',
      shop,
      '--customer',
      address,
      '--json',
    );
    return code === 0 ? JSON.parse(out) : err;
  };

  before(async () => {
    const rows = [
      'id,customer,created,price',
      '1,planted@example.com,2026-11-01T00:00:00Z,1.00',
      '2,Planted@example.com,never,1.00',
      'planted@example.com,3,2026-11-01T00:00:00Z,1.00',
    ];
    const mapped = [
      '--mapping',
      write('mapping.json', JSON.stringify(subscriptions())),
      write('export.csv', rows.join('\n')),
    ];
    importing = ['import', '--shop', shop, ...mapped];
    for (const [status, ...args] of [
      [0, 'shops', 'create', '--id', shop, '--name', 'Shop', '--currency', 'USD'],
      [0, 'import', '--shop', shop, write('plans.ndjson', JSON.stringify(plan()))],
      [3, ...importing],
    ] as [number, ...string[]][]) {
      const { code, out, err } = await retention(...args);
      assert.equal(code, status, err);
      imported.push(out, err);
    }
  });

  test('have the same ids in a dry run', async () => {
    const { out, err } = await retention(...importing, '--dry-run', '--json');
    imported.push(out, err);
    assert.equal(JSON.parse(out).counts.subscription.unchanged, 1);
  });

  test('are found by their addresses', async () => {
    const key = await customerKey();
    const { out } = await retention('customer-key', '--shop', shop);
    assert.equal(out, `${key}\n`);
    const id = deriveCustomerId(key, 'planted@example.com');
    for (const text of [' PLANTED@example.com', String(id)]) {
      assert.deepEqual(await idOf(text), { kind: 'customer', id, sourceId: null });
    }
    assert.match(await idOf('eve@example.com'), /^retention: Shop \d+ has no customer eve@/);
  });

  test('leave neither address nor key in what an import prints and writes', async () => {
    const key = await customerKey();
    const written = readdirSync(folder).filter((name) => name.endsWith('.refused.ndjson'));
    assert.deepEqual(written, ['export.csv.refused.ndjson']);
    const texts = [
      ...imported,
      ...written.map((name) => readFileSync(path.join(folder, name), 'utf8')),
    ];
    for (const text of texts) {
      assert.doesNotMatch(text, /planted/i);
      assert.ok(!text.includes(key));
    }
    assert.match(texts.join(), /column created: "never" must be a time/);
    assert.match(texts.join(), /column id has an e-mail address/);
  });

  test('get new ids only with --replace --yes, which says what that means', async () => {
    const key = await customerKey();
    const replace = ['customer-key', '--shop', shop, '--replace'];
    const asked = await retention(...replace);
    assert.deepEqual([asked.code, asked.out], [1, '']);
    assert.match(asked.err, /^retention: Nothing was changed\. Another key gives other ids/);
    assert.equal(await customerKey(), key);
    const alone = await retention('customer-key', '--shop', shop, '--yes');
    assert.deepEqual([alone.code, alone.out], [2, '']);

    const { code, out, err } = await retention(...replace, '--yes');
    assert.equal(code, 0);
    assert.notEqual(out, `${key}\n`);
    assert.equal(out, `${await customerKey()}\n`);
    assert.match(err, /^The key was replaced\. .* such customers count twice/m);
    assert.match(await idOf('planted@example.com'), /has no customer/);
  });
});
