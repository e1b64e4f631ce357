import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { UploadFolder } from '../../../src/push/upload/folder.ts';
import { listFeeds } from '../../../src/store/feeds/feeds.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { until } from '../../support/until.ts';
import { plain, withoutTokens } from '../page-text.ts';
import {
  ndjson,
  plan,
  pressImport,
  type Uploads,
  startUploads,
  subscription,
  uploadIdOf,
} from './upload-world.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const records = ndjson([plan, subscription(1)]);
const wide = `status${',a'.repeat(499)}\nactive${',b'.repeat(499)}\n`;

const twice = 'Customer,Price,Status,Started,Price\nc1,9.00,active,2024-01-02,8.00\n';

onOneDatabase('a file that is not imported', (open) => {
  let world: Uploads;
  before(async () => {
    world = await startUploads(open(), { maxBytes: 100_000 });
  });
  after(() => world.close());
  const isEmpty = async (shopId: number) =>
    (await listFeeds(world.store.write, shopId)).length === 0;

  for (const [title, name, content, status, message] of [
    ['is empty', 'a.csv', '', 422, /The file is empty/],
    ['was not chosen', '', '', 422, /Choose a file first/],
    ['is too large', 'a.csv', 'x'.repeat(200_000), 413, /larger than 97\.7 kB\. Split it/],
  ] as const) {
    test(`${title} is refused as it arrives`, async () => {
      const { shop, visitor, file } = await world.openShop();
      const page = await visitor.upload(file, { name, content });
      assert.equal(page.status, status);
      assert.match(plain(page.text), message);
      assert.match(page.text, /type="file"/);
      assert.deepEqual(world.filesOf(shop), []);
    });
  }

  for (const [title, name, content, message] of [
    ['a picture', 'a.csv', png, /a\.csv is not a text file\. Export the table as CSV/],
    ['a PDF', 'a.pdf', '%PDF-1.7\n%\u00e2\u00e3\n', /a\.pdf is not a text file/],
    ['a workbook', 'a.xlsx', Buffer.from('PK\u0003\u0004abc', 'latin1'), /save its table as CSV/],
    ['a table of one column', 'a.csv', 'colour\nred\nblue\n', /a\.csv has one column only\./],
    ['a table of too many columns', 'a.csv', wide, /a\.csv has 500 columns; at most 400 are/],
    ['a heading twice', 'a.csv', twice, /a\.csv has the heading “Price” twice\. Rename one/],
    ['no table', 'a.txt', 'hello', /has no rows that could be read/],
    ['broken JSON', 'a.json', '[{"a": 1', /a\.json ends inside the list\. Choose/],
  ] as const) {
    test(`${title} is refused when it was read, and removed`, async () => {
      const { shop, visitor, file } = await world.openShop();
      await visitor.upload(file, { name, content });
      const page = await visitor.get(file);
      assert.equal(page.status, 422);
      assert.match(plain(page.text), message);
      assert.doesNotMatch(page.text, new RegExp(world.folder));
      assert.deepEqual(world.filesOf(shop), []);
    });
  }

  test('is removed when its owner cancels', async () => {
    const { shop, visitor, file } = await world.openShop();
    await visitor.upload(file, { name: 'a.ndjson', content: records });
    const shown = await visitor.get(file);
    assert.equal(world.filesOf(shop).length, 1);
    const removed = await visitor.post(`${file}/cancel`, { upload: uploadIdOf(shown) });
    assert.equal(removed.location, `${file.replace('/file', '')}?done=file-removed`);
    assert.deepEqual(world.filesOf(shop), []);
    assert.ok(await isEmpty(shop.id));
    assert.match((await visitor.get(file)).text, /type="file"/);
  });

  test('is of another shop: its owner alone reaches it', async () => {
    const mine = await world.openShop();
    const other = await world.openShop();
    await mine.visitor.upload(mine.file, { name: 'a.ndjson', content: records });
    const shown = await mine.visitor.get(mine.file);
    const upload = uploadIdOf(shown);
    const { visitor } = other;
    for (const rest of ['', '/new', '/refused.csv']) {
      assert.equal((await visitor.get(mine.file + rest)).status, 404);
    }
    await visitor.get(`${other.file}/new`);
    for (const rest of ['/answers', '/continue', '/cancel']) {
      const fields = { upload, action: 'import' };
      assert.equal((await visitor.post(mine.file + rest, fields)).status, 404);
      // The same upload, named on a page of the own shop.
      assert.equal((await visitor.post(other.file + rest, fields)).location, other.file);
    }
    assert.equal((await visitor.upload(mine.file, { name: 'b.csv', content: 'x' })).status, 404);
    const unchanged = await mine.visitor.get(mine.file);
    assert.equal(withoutTokens(unchanged.text), withoutTokens(shown.text));
    assert.ok(await isEmpty(mine.shop.id));
    assert.equal(
      (await visitor.upload(mine.file, { name: 'b.csv', content: 'x' }, '')).status,
      404,
    );
  });

  test('comes from elsewhere: the form needs its token, and the owner a session', async () => {
    const { visitor, file } = await world.openShop();
    const forged = await visitor.upload(file, { name: 'a.ndjson', content: records }, 'wrong');
    assert.equal(forged.status, 403);
    assert.match(plain(forged.text), /Nothing was changed/);
    visitor.cookies.clear();
    const signedOut = await visitor.upload(file, { name: 'a.ndjson', content: records });
    assert.equal(signedOut.location, '/app/sign-in');
    const body = { headers: { 'content-type': 'multipart/form-data; boundary=a' }, body: '--a' };
    const url = `${world.service.baseUrl}${file}`;
    const crossSite = await fetch(url, { method: 'POST', ...body });
    assert.equal(crossSite.status, 403);
  });

  test('is gone when its owner comes back: the page says so', async () => {
    const { shop, visitor, file } = await world.openShop();
    await visitor.upload(file, { name: 'a.ndjson', content: records });
    const shown = await visitor.get(file);
    const [name = ''] = world.filesOf(shop);
    const stored = path.join(world.folder, name);
    const now = Date.now();
    const folder = new UploadFolder(world.folder);
    await folder.sweep(now + 59 * 60_000);
    assert.ok(existsSync(stored));
    await folder.sweep(now + 61 * 60_000);
    assert.ok(!existsSync(stored));
    await pressImport(visitor, file, shown);
    assert.match(plain((await visitor.get(file)).text), /The file is no longer on this server/);
  });

  test('was left over: the next start removes it, and nothing else', async () => {
    const old = new Date(Date.now() - 2 * 3_600_000);
    const left = path.join(world.folder, '7-00000000-0000-4000-8000-000000000000.gz');
    const foreign = path.join(world.folder, 'notes.txt');
    for (const each of [left, foreign]) {
      writeFileSync(each, 'x');
      utimesSync(each, old, old);
    }
    const another = await world.start();
    await until(() => !existsSync(left));
    assert.ok(existsSync(foreign));
    await another.close();
  });

  test('cannot be stored: the page says whose task it is, without the place', async () => {
    const other = await startUploads(world.store);
    const { visitor, file } = await other.openShop();
    const folder = path.join(other.folder, 'shared');
    mkdirSync(folder);
    // Others may write to it.
    chmodSync(folder, 0o777);
    const service = await other.startWith(folder);
    const there = await other.openShop({}, service);
    const page = await there.visitor.upload(there.file, { name: 'a.csv', content: records });
    assert.equal(page.status, 507);
    assert.match(plain(page.text), /could not store the file\. Tell the operator/);
    assert.doesNotMatch(page.text, /retention-test-uploads/);
    assert.equal((await visitor.upload(file, { name: 'a.ndjson', content: records })).status, 303);
    await service.close();
    await other.service.close();
  });
});
