import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { run, throwawayFolder } from '../../cli/process.ts';
import { assertSameShop } from '../../model/dump.ts';
import { createShop } from '../../support/world.ts';
import { flat, grouped, plans, samplePath } from './samples.ts';
import { serverUrl } from '../../support/databases.ts';

const target = serverUrl;
const skip = target === undefined && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL: target ?? '', LOG_LEVEL: 'error' };

describe('retention import --from shopify', { skip }, () => {
  let store: Store;
  before(() => {
    store = connectAll(target ?? '');
  });
  after(() => store.close());

  const prepare = async () => {
    const shop = await createShop(store);
    const folder = throwawayFolder();
    const take = (files: readonly string[], input = '') =>
      run(['import', '--shop', String(shop.id), '--from', 'shopify', ...files], {
        env,
        cwd: folder,
        input,
      });
    return { shop, folder, take };
  };

  test('reports each refused line, and saves only its GID', async () => {
    const { folder, take } = await prepare();
    writeFileSync(path.join(folder, 'a.jsonl'), readFileSync(samplePath(grouped)));
    writeFileSync(path.join(folder, 'b.jsonl'), readFileSync(samplePath('bad/orphan_child.jsonl')));
    const { code, out, err } = await take(['a.jsonl', 'b.jsonl', samplePath(plans)]);
    assert.equal(code, 3);
    assert.equal(
      err,
      [
        "a.jsonl:26: the contract is in CAD, and the shop's currency is USD (subscription 1009)",
        "a.jsonl:27: currentPrice is in CAD, and the shop's currency is USD",
        'a.jsonl:28: its SubscriptionContract was refused',
        'b.jsonl:7: its SubscriptionContract 9999 is not in the input',
        'Refused lines and their reasons are in a.jsonl.refused.ndjson, b.jsonl.refused.ndjson.',
        '',
      ].join('\n'),
    );
    // Two contracts, with an attempt each, are in both files.
    assert.equal(
      out,
      'TYPE          STORED  REPLACED  DELETED  UNCHANGED  STALE  REFUSED\n' +
        'subscription  10      0         0        2          0      1\n' +
        'line          0       0         0        0          0      2\n' +
        'payment       9       0         0        2          0      1\n' +
        'plan          8       0         0        0          0      0\n',
    );
    const kept = readFileSync(path.join(folder, 'b.jsonl.refused.ndjson'), 'utf8');
    assert.deepEqual(JSON.parse(kept), {
      file: 'b.jsonl',
      line: 7,
      reason: 'its SubscriptionContract 9999 is not in the input',
      text: 'gid://shopify/SubscriptionLine/00000000-0000-4000-8000-000000000099',
    });
  });

  test('reads gzipped files and standard input', async () => {
    const [gzipped, piped, plain] = [await prepare(), await prepare(), await prepare()];
    const texts = [readFileSync(samplePath(flat)), readFileSync(samplePath(plans))];
    writeFileSync(path.join(gzipped.folder, 'contracts.jsonl.gz'), gzipSync(texts[0] ?? ''));
    writeFileSync(path.join(gzipped.folder, 'plans.jsonl.gz'), gzipSync(texts[1] ?? ''));
    assert.equal((await gzipped.take(['contracts.jsonl.gz', 'plans.jsonl.gz'])).code, 3);
    assert.equal((await piped.take([samplePath(plans), '-'], String(texts[0]))).code, 3);
    assert.equal((await plain.take([samplePath(flat), samplePath(plans)])).code, 3);
    await assertSameShop(store.write, gzipped.shop.id, plain.shop.id);
    await assertSameShop(store.write, piped.shop.id, plain.shop.id);
  });

  test('leaves no temporary files behind', async () => {
    const { folder, shop } = await prepare();
    const args = ['import', '--shop', String(shop.id), '--from', 'shopify', samplePath(plans)];
    const { code } = await run(args, { env: { ...env, TMPDIR: folder } });
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(folder), []);
  });
});
