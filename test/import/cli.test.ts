import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Store, connectAll } from '../../src/store/open.ts';
import { listEvents } from '../../src/store/owners/events.ts';
import { run, throwawayFolder } from '../cli/process.ts';
import { plan, subscription } from '../rest/records.ts';
import { createShop } from '../support/world.ts';
import { serverUrl } from '../support/databases.ts';

const target = serverUrl;
const skip = target === undefined && 'PostgreSQL is not available on this machine';
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
  let store: Store;
  before(() => {
    store = connectAll(target ?? '');
  });
  after(() => store.close());

  /** A shop, a folder with files, and the command run there. */
  async function prepare(files: Readonly<Record<string, string | Buffer>> = {}) {
    const shop = await createShop(store);
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

  test('prints a table and exits with 0 if all lines are imported', async () => {
    const fixture = await prepare({ 'a.ndjson': ndjson(plan(), subscription(1001)) });
    assert.deepEqual(await fixture.run(['a.ndjson']), {
      code: 0,
      out:
        'TYPE          STORED  REPLACED  DELETED  UNCHANGED  STALE  REFUSED\n' +
        'plan          1       0         0        0          0      0\n' +
        'subscription  1       0         0        0          0      0\n',
      err: '',
    });
    assert.equal(fixture.has('a.ndjson.refused.ndjson'), false);
    // Charts mark it; a dry run, and a file that changes nothing, leave no mark.
    await fixture.run(['a.ndjson']);
    fixture.write('b.ndjson', ndjson(plan({ id: 12 })));
    await fixture.run(['--dry-run', 'b.ndjson']);
    const everything = { from: 0, until: Date.now() + 1 };
    const events = await listEvents(store.write, fixture.shop.id, everything);
    assert.deepEqual(
      events.map(({ kind, detail }) => [kind, detail]),
      [['import', '2']],
    );
  });

  test('escapes control characters in file names', async () => {
    const fixture = await prepare({ 'a\x1b[2J\u202e\nb:7: c': ndjson(bad) });
    const { code, err } = await fixture.run(['--refused', 'refused', 'a\x1b[2J\u202e\nb:7: c']);
    assert.equal(code, 3);
    assert.equal(
      err,
      `a\\u001b[2J\\u202e\\nb:7: c:1: ${badReason}\n` +
        'Refused lines and their reasons are in refused.\n',
    );
    assert.equal(JSON.parse(fixture.read('refused')).file, 'a\x1b[2J\u202e\nb:7: c');
  });

  test('makes the file of refused lines private to its owner, even if it existed', async () => {
    const fixture = await prepare({ 'a.ndjson': ndjson(bad), 'b.ndjson': ndjson(bad) });
    const refused = (name: string) => path.join(fixture.folder, `${name}.refused.ndjson`);
    writeFileSync(refused('b.ndjson'), 'of an earlier run');
    chmodSync(refused('b.ndjson'), 0o666);
    assert.equal((await fixture.run(['a.ndjson', 'b.ndjson'])).code, 3);
    for (const name of ['a.ndjson', 'b.ndjson']) {
      assert.equal(statSync(refused(name)).mode & 0o777, 0o600, name);
    }
  });

  test('writes refused lines to a file and reasons to stderr, and exits with 3', async () => {
    const orphan = JSON.stringify(subscription(1001, { planId: 404 }));
    const fixture = await prepare({
      'a.ndjson': ndjson(plan(), '', bad, orphan, 'no JSON'),
      'b.ndjson': ndjson(plan({ id: 12 })),
    });
    const { code, out, err } = await fixture.run(['--json', 'a.ndjson', 'b.ndjson']);
    assert.equal(code, 3);
    assert.deepEqual(JSON.parse(out), {
      shop: fixture.shop.id,
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
        'a.ndjson:4: plan 404 is not known (subscription 1001)\n' +
        'Refused lines and their reasons are in a.ndjson.refused.ndjson.\n',
    );
    assert.equal(
      fixture.read('a.ndjson.refused.ndjson'),
      ndjson(
        { file: 'a.ndjson', line: 3, reason: badReason, text: bad },
        { file: 'a.ndjson', line: 5, reason: 'the line is not JSON', text: 'no JSON' },
        {
          file: 'a.ndjson',
          line: 4,
          reason: 'plan 404 is not known',
          record: 'subscription 1001',
          text: orphan,
        },
      ),
    );
    assert.equal(fixture.has('b.ndjson.refused.ndjson'), false);

    fixture.write('a.ndjson', ndjson(plan(), plan({ id: 404 }), orphan));
    const fixed = await fixture.run(['--json', 'a.ndjson']);
    assert.deepEqual([fixed.code, fixed.err], [0, '']);
    assert.equal(fixture.has('a.ndjson.refused.ndjson'), false);
  });

  test('--refused collects the refused lines of all files', async () => {
    const fixture = await prepare({ 'a.ndjson': ndjson(bad), 'b.ndjson': ndjson(plan(), bad) });
    const { code, err } = await fixture.run(['--refused', 'r.txt', 'a.ndjson', 'b.ndjson']);
    assert.equal(code, 3);
    assert.match(err, /Refused lines and their reasons are in r\.txt\.\n$/);
    assert.equal(
      fixture.read('r.txt'),
      ndjson(
        { file: 'a.ndjson', line: 1, reason: badReason, text: bad },
        { file: 'b.ndjson', line: 2, reason: badReason, text: bad },
      ),
    );
    assert.equal(fixture.has('a.ndjson.refused.ndjson'), false);

    const sameFile = await fixture.run(['--refused', 'a.ndjson', 'a.ndjson']);
    assert.deepEqual(sameFile, {
      code: 1,
      out: '',
      err: 'retention: a.ndjson is to be imported; choose another file for the refused lines.\n',
    });
    assert.equal(fixture.read('a.ndjson'), ndjson(bad));
  });

  test('reads standard input for -', async () => {
    const fixture = await prepare();
    const { code, out, err } = await fixture.run(['--json', '-'], ndjson(plan(), bad));
    assert.equal(code, 3);
    assert.deepEqual(JSON.parse(out).counts, { plan: { ...none, stored: 1, refused: 1 } });
    assert.match(err, /^-:2: id must be/);
    const text = { file: '-', line: 2, reason: badReason, text: bad };
    assert.equal(fixture.read('stdin.refused.ndjson'), ndjson(text));
  });

  test('decompresses .gz files, in capitals too', async () => {
    for (const name of ['a.ndjson.gz', 'A.NDJSON.GZ']) {
      const fixture = await prepare({ [name]: gzipSync(plans(2500)) });
      const { code, out } = await fixture.run(['--json', name]);
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(out).counts, { plan: { ...none, stored: 2500 } });
    }
  });

  test('exits with 1 for a truncated .gz file, and keeps the batches before the end', async () => {
    const whole = gzipSync(plans(14_000), { level: 1 });
    const fixture = await prepare({
      'a.ndjson.gz': whole.subarray(0, Math.floor(whole.length * 0.9)),
    });
    const { code, out, err } = await fixture.run(['a.ndjson.gz']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(
      err,
      /^retention: a\.ndjson\.gz could not be read to the end: unexpected end of file\./,
    );
    const ids = await fixture.planIds();
    assert.ok(ids.length >= 1000 && ids.length < 14_000, `${ids.length} are in`);
    assert.deepEqual(
      ids,
      ids.map((_, index) => index + 1),
    );
  });

  test('names unreadable files before anything is stored', async () => {
    const fixture = await prepare({ 'a.ndjson': plans(1) });
    mkdirSync(path.join(fixture.folder, 'folder'));
    assert.deepEqual(await fixture.run(['a.ndjson', 'none.ndjson']), {
      code: 1,
      out: '',
      err: 'retention: none.ndjson cannot be read: there is no such file.\n',
    });
    assert.deepEqual(await fixture.run(['a.ndjson', 'folder']), {
      code: 1,
      out: '',
      err: 'retention: folder is a folder; name the files in it.\n',
    });
    assert.deepEqual(await fixture.planIds(), []);
  });

  test('accepts an empty file', async () => {
    const fixture = await prepare({ empty: '', blank: '\n \r\n' });
    const result = await fixture.run(['empty', 'blank']);
    assert.deepEqual(result, { code: 0, out: 'There was nothing to import.\n', err: '' });
    const json = await fixture.run(['--json', 'empty']);
    assert.deepEqual(JSON.parse(json.out), { shop: fixture.shop.id, counts: {} });
  });

  test('refuses an unknown shop and wrong usage', async () => {
    const { folder } = await prepare({ 'a.ndjson': plans(1) });
    const attempt = async (...args: string[]) => {
      const { code, out, err } = await run(['import', ...args], { env, cwd: folder });
      return [code, out, err.split('\n')[0]];
    };
    assert.deepEqual(await attempt('--shop', '9007199254740991', 'a.ndjson'), [
      1,
      '',
      'retention: There is no shop 9007199254740991; "retention shops create" creates one.',
    ]);
    assert.deepEqual(await attempt('a.ndjson'), [2, '', 'retention: --shop is missing.']);
    assert.deepEqual(await attempt('--shop', 'mine', 'a.ndjson'), [
      2,
      '',
      'retention: --shop must be an integer from 1 to 9007199254740991, not "mine".',
    ]);
    assert.deepEqual(await attempt('--shop', '1'), [2, '', 'retention: FILE is missing.']);
  });

  test('stores an unusual status change, and logs a warning that names the line', async () => {
    const fixture = await prepare({
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
    const { code, err } = await fixture.run(['a.ndjson']);
    assert.equal(code, 0);
    const { level, source, line, msg } = JSON.parse(err);
    assert.deepEqual([level, source, line], ['warn', 'a.ndjson', 2]);
    assert.equal(msg, 'subscription 1001 went from expired to active');
  });
});
