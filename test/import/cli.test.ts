import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Store, connectAll } from '../../src/store/open.ts';
import { run, throwawayFolder } from '../cli/process.ts';
import { plan, subscription } from '../rest/records.ts';
import { createShop } from '../support/world.ts';

const target = process.env['TEST_POSTGRES'];
const skip = target === undefined && 'PostgreSQL could not be had on this machine';
const env = { DATABASE_URL: target ?? '', LOG_LEVEL: 'warn' };

const ndjson = (...records: (object | string)[]) =>
  records.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join('');
const plans = (count: number) =>
  ndjson(...Array.from({ length: count }, (_, index) => plan({ id: index + 1 })));
const bad = '{"type":"plan","id":0}';
const badReason =
  'id must be an integer from 1 to 9007199254740991; name is missing; planType is missing; intervalUnit is missing; intervalCount is missing';
const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

describe('retention import', { skip, concurrency: 2 }, () => {
  let store: Omit<Store, 'failed'>;
  before(() => {
    store = connectAll(target ?? '');
  });
  after(() => store.close());

  /** A shop, a folder with files, and the command run there. */
  async function prepare(files: Readonly<Record<string, string | Buffer>> = {}) {
    const shop = await createShop(store as Store);
    const folder = throwawayFolder();
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(path.join(folder, name), content);
    }
    return {
      shop,
      folder,
      read: (name: string) => readFileSync(path.join(folder, name), 'utf8'),
      has: (name: string) => existsSync(path.join(folder, name)),
      write: (name: string, content: string) => writeFileSync(path.join(folder, name), content),
      run: async (args: readonly string[], input = '') => {
        const all = ['import', '--shop', String(shop.id), ...args];
        const { code, out, err } = await run(all, { env, cwd: folder, input });
        return { code, out, err };
      },
      planIds: async () => {
        const rows = await store.write<{ id: number }[]>`
          select plan_id as id from plans where shop_id = ${shop.id} order by plan_id`;
        return rows.map(({ id }) => id);
      },
    };
  }

  test('all is well: a table on standard output, nothing else, status 0', async () => {
    const place = await prepare({ 'a.ndjson': ndjson(plan(), subscription(1001)) });
    assert.deepEqual(await place.run(['a.ndjson']), {
      code: 0,
      out:
        'TYPE          STORED  REPLACED  DELETED  UNCHANGED  STALE  REFUSED\n' +
        'plan          1       0         0        0          0      0\n' +
        'subscription  1       0         0        0          0      0\n',
      err: '',
    });
    assert.equal(place.has('a.ndjson.refused.ndjson'), false);
  });

  test('the name of a file cannot move the cursor or forge a line', async () => {
    const place = await prepare({ 'a\x1b[2J\u202e\nb:7: c': ndjson(bad) });
    const { code, err } = await place.run(['--refused', 'refused', 'a\x1b[2J\u202e\nb:7: c']);
    assert.equal(code, 3);
    assert.equal(
      err,
      `a\\u001b[2J\\u202e\\nb:7: c:1: ${badReason}\n` +
        'Refused lines and their reasons are in refused.\n',
    );
    assert.equal(JSON.parse(place.read('refused')).file, 'a\x1b[2J\u202e\nb:7: c');
  });

  test('only its owner can read a file of refused lines, also where it was there', async () => {
    const place = await prepare({ 'a.ndjson': ndjson(bad), 'b.ndjson': ndjson(bad) });
    const refused = (name: string) => path.join(place.folder, `${name}.refused.ndjson`);
    writeFileSync(refused('b.ndjson'), 'of an earlier run');
    chmodSync(refused('b.ndjson'), 0o666);
    assert.equal((await place.run(['a.ndjson', 'b.ndjson'])).code, 3);
    for (const name of ['a.ndjson', 'b.ndjson']) {
      assert.equal(statSync(refused(name)).mode & 0o777, 0o600, name);
    }
  });

  test('some are refused: why on standard error, the lines in a file, status 3', async () => {
    const orphan = JSON.stringify(subscription(1001, { planId: 404 }));
    const place = await prepare({
      'a.ndjson': ndjson(plan(), '', bad, orphan, 'no JSON'),
      'b.ndjson': ndjson(plan({ id: 12 })),
    });
    const { code, out, err } = await place.run(['--json', 'a.ndjson', 'b.ndjson']);
    assert.equal(code, 3);
    assert.deepEqual(JSON.parse(out), {
      shop: place.shop.id,
      counts: {
        plan: { ...none, stored: 2, refused: 1 },
        subscription: { ...none, refused: 1 },
        unknown: { ...none, refused: 1 },
      },
    });
    assert.equal(
      err,
      `a.ndjson:3: ${badReason}\n` +
        'a.ndjson:5: the line is not JSON\n' +
        'a.ndjson:4: plan 404 is not known\n' +
        'Refused lines and their reasons are in a.ndjson.refused.ndjson.\n',
    );
    assert.equal(
      place.read('a.ndjson.refused.ndjson'),
      ndjson(
        { file: 'a.ndjson', line: 3, reason: badReason, text: bad },
        { file: 'a.ndjson', line: 5, reason: 'the line is not JSON', text: 'no JSON' },
        { file: 'a.ndjson', line: 4, reason: 'plan 404 is not known', text: orphan },
      ),
    );
    assert.equal(place.has('b.ndjson.refused.ndjson'), false);

    place.write('a.ndjson', ndjson(plan(), plan({ id: 404 }), orphan));
    const mended = await place.run(['--json', 'a.ndjson']);
    assert.deepEqual([mended.code, mended.err], [0, '']);
    assert.equal(place.has('a.ndjson.refused.ndjson'), false);
  });

  test('--refused takes the refused lines of all files', async () => {
    const place = await prepare({ 'a.ndjson': ndjson(bad), 'b.ndjson': ndjson(plan(), bad) });
    const { code, err } = await place.run(['--refused', 'r.txt', 'a.ndjson', 'b.ndjson']);
    assert.equal(code, 3);
    assert.match(err, /Refused lines and their reasons are in r\.txt\.\n$/);
    assert.equal(
      place.read('r.txt'),
      ndjson(
        { file: 'a.ndjson', line: 1, reason: badReason, text: bad },
        { file: 'b.ndjson', line: 2, reason: badReason, text: bad },
      ),
    );
    assert.equal(place.has('a.ndjson.refused.ndjson'), false);

    const own = await place.run(['--refused', 'a.ndjson', 'a.ndjson']);
    assert.deepEqual(own, {
      code: 1,
      out: '',
      err: 'retention: a.ndjson is read and cannot also take the refused lines.\n',
    });
    assert.equal(place.read('a.ndjson'), ndjson(bad));
  });

  test('- is standard input', async () => {
    const place = await prepare();
    const { code, out, err } = await place.run(['--json', '-'], ndjson(plan(), bad));
    assert.equal(code, 3);
    assert.deepEqual(JSON.parse(out).counts, { plan: { ...none, stored: 1, refused: 1 } });
    assert.match(err, /^-:2: id must be/);
    const text = { file: '-', line: 2, reason: badReason, text: bad };
    assert.equal(place.read('stdin.refused.ndjson'), ndjson(text));
  });

  test('.gz is unpacked', async () => {
    const place = await prepare({ 'a.ndjson.gz': gzipSync(plans(2500)) });
    const { code, out } = await place.run(['--json', 'a.ndjson.gz']);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out).counts, { plan: { ...none, stored: 2500 } });
  });

  test('a .gz that is cut off: status 1, and what came before is in', async () => {
    const whole = gzipSync(plans(14_000), { level: 1 });
    const place = await prepare({
      'a.ndjson.gz': whole.subarray(0, Math.floor(whole.length * 0.9)),
    });
    const { code, out, err } = await place.run(['a.ndjson.gz']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(
      err,
      /^retention: a\.ndjson\.gz cannot be read to its end: unexpected end of file\./,
    );
    const ids = await place.planIds();
    assert.ok(ids.length >= 1000 && ids.length % 1000 === 0, `${ids.length} are in`);
    assert.deepEqual(
      ids,
      ids.map((_, index) => index + 1),
    );
  });

  test('files that cannot be read are told before anything is stored', async () => {
    const place = await prepare({ 'a.ndjson': plans(1) });
    mkdirSync(path.join(place.folder, 'folder'));
    assert.deepEqual(await place.run(['a.ndjson', 'none.ndjson']), {
      code: 1,
      out: '',
      err: 'retention: none.ndjson cannot be read: there is no such file.\n',
    });
    assert.deepEqual(await place.run(['a.ndjson', 'folder']), {
      code: 1,
      out: '',
      err: 'retention: folder is a folder; name the files in it.\n',
    });
    assert.deepEqual(await place.planIds(), []);
  });

  test('an empty file is no failure', async () => {
    const place = await prepare({ empty: '', blank: '\n \r\n' });
    const result = await place.run(['empty', 'blank']);
    assert.deepEqual(result, { code: 0, out: 'There was nothing to import.\n', err: '' });
    const json = await place.run(['--json', 'empty']);
    assert.deepEqual(JSON.parse(json.out), { shop: place.shop.id, counts: {} });
  });

  test('a shop that is not there, and wrong usage', async () => {
    const { folder } = await prepare({ 'a.ndjson': plans(1) });
    const attempt = async (...args: string[]) => {
      const { code, out, err } = await run(['import', ...args], { env, cwd: folder });
      return [code, out, err.split('\n')[0]];
    };
    assert.deepEqual(await attempt('--shop', '9007199254740991', 'a.ndjson'), [
      1,
      '',
      'retention: There is no shop 9007199254740991; "retention shops create" makes one.',
    ]);
    assert.deepEqual(await attempt('a.ndjson'), [2, '', 'retention: --shop is missing.']);
    assert.deepEqual(await attempt('--shop', 'mine', 'a.ndjson'), [
      2,
      '',
      'retention: --shop must be an integer from 1 to 9007199254740991, not "mine".',
    ]);
    assert.deepEqual(await attempt('--shop', '1'), [2, '', 'retention: An argument is missing.']);
  });

  test('what is unusual is stored, and logged as a warning that names the line', async () => {
    const place = await prepare({
      'a.ndjson': ndjson(
        plan(),
        subscription(1001, {
          status: 'active',
          statusEvents: [
            { at: '2026-11-02T00:00:00Z', to: 'expired' },
            { at: '2026-11-03T00:00:00Z', to: 'active' },
          ],
        }),
      ),
    });
    const { code, err } = await place.run(['a.ndjson']);
    assert.equal(code, 0);
    const { level, source, line, msg } = JSON.parse(err);
    assert.deepEqual([level, source, line], ['warn', 'a.ndjson', 2]);
    assert.equal(msg, 'subscription 1001 went from expired to active');
  });
});
