import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listFeeds } from '../../../src/store/feeds/feeds.ts';
import { beginUpload, findUpload, updateUploadProgress } from '../../../src/store/push/uploads.ts';
import { serverUrl } from '../../support/databases.ts';
import { until } from '../../support/until.ts';
import { openAnyStore } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import {
  ndjson,
  plan,
  pressImport,
  resultOf,
  type Uploads,
  startUploads,
  subscription,
  uploadIdOf,
} from './upload-world.ts';

const many = ndjson([plan, ...Array.from({ length: 2500 }, (_, index) => subscription(index + 1))]);
const isClosed = (url: string) =>
  fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );
const small = ndjson([plan, subscription(1)]);

// The embedded database has one client at a time, so an import cannot be held up there.
const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';
describe('an import of an uploaded file', { skip }, () => {
  let world: Uploads;
  before(async () => {
    world = await startUploads(openAnyStore());
  });
  after(() => world.close());

  /** An import that waits for its shop, until `release` is called. */
  async function startHeldUp(at = world.service) {
    const opened = await world.openShop({}, at);
    const { shop, visitor, file } = opened;
    await visitor.upload(file, { name: 'many.ndjson', content: many });
    const shown = await visitor.get(file);
    const held = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const lock = world.store.write.begin(async (tx) => {
      await tx`select lock_shop(${shop.id})`;
      held.resolve();
      await over.promise;
    });
    await held.promise;
    assert.equal((await pressImport(visitor, file, shown)).location, file);
    return {
      ...opened,
      upload: uploadIdOf(shown),
      async release() {
        over.resolve();
        await lock;
      },
    };
  }

  test('shows how far it is, and keeps other files of the shop out', async () => {
    const { visitor, file, release } = await startHeldUp();
    const running = await visitor.get(file);
    assert.match(plain(running.text), /Importing many\.ndjson \d+% of the file has been read/);
    assert.match(running.text, /<progress max="100"/);
    assert.equal((await visitor.get(`${file}/new`)).location, file);
    assert.match(plain((await visitor.get(file.replace('/file', ''))).text), /See how far it is/);
    const refused = await visitor.upload(file, { name: 'other.ndjson', content: small });
    assert.equal(refused.status, 409);
    assert.match(plain(refused.text), /Another file of this shop is being imported\./);
    await release();
    assert.match(plain((await resultOf(visitor, file)).text), /Subscriptions 2,500 0 0 0 0 0/);
  });

  test('does not hold up those of other shops', async () => {
    const { visitor, file, release } = await startHeldUp();
    const other = await world.openShop();
    await other.visitor.upload(other.file, { name: 'small.ndjson', content: small });
    await pressImport(other.visitor, other.file, await other.visitor.get(other.file));
    const result = await resultOf(other.visitor, other.file);
    assert.match(plain(result.text), /Subscriptions 1 0 0 0 0 0/);
    assert.match(plain((await visitor.get(file)).text), /Importing many\.ndjson/);
    await release();
    await resultOf(visitor, file);
  });

  test('stops when its owner says so, and says what was stored', async () => {
    const { shop, visitor, file, upload, release } = await startHeldUp();
    const stopped = await visitor.post(`${file}/cancel`, { upload });
    assert.equal(stopped.location, file);
    const stopping = plain((await visitor.get(file)).text);
    assert.match(stopping, /Stopping\. \d+% of the file has been read/);
    assert.doesNotMatch(stopping, /goes on/);
    await release();
    const result = plain((await resultOf(visitor, file)).text);
    assert.match(
      result,
      /You stopped the import: [\d,]+ records? (?:is|are) imported, the others are not/,
    );
    assert.deepEqual(world.filesOf(shop), []);
    const [feed] = await listFeeds(world.store.write, shop.id);
    assert.equal(feed?.completedAt ?? null, null);
  });

  test('is interrupted by a restart of the server: the page says so, and it can go on', async () => {
    const first = await world.start();
    const { shop, visitor, file, upload, release } = await startHeldUp(first);
    const closing = first.close();
    // Only then is the shop free, so that the import cannot have come to its end.
    await until(() => isClosed(first.baseUrl));
    await release();
    await closing;
    const visitorThere = visitor.at(world.service.baseUrl);
    const page = plain((await visitorThere.get(file)).text);
    assert.match(
      page,
      /Import interrupted The server was restarted in the middle: [\d,]+ records? /,
    );
    assert.match(plain((await visitorThere.get(file.replace('/file', ''))).text), /Interrupted/);
    const again = await visitorThere.post(`${file}/continue`, { upload });
    assert.equal(again.location, file);
    const result = plain((await resultOf(visitorThere, file)).text);
    const [, fresh = '', old = ''] = /Subscriptions ([\d,]+) 0 ([\d,]+) 0 0 0/.exec(result) ?? [];
    assert.equal(Number(fresh.replace(',', '')) + Number(old.replace(',', '')), 2500, result);
    assert.deepEqual(world.filesOf(shop), []);
  });

  test('whose process died goes on, too, once that is certain', async () => {
    const { shop, visitor, file } = await world.openShop();
    await visitor.upload(file, { name: 'a.ndjson', content: small });
    const upload = uploadIdOf(await visitor.get(file));
    const key = { shopId: shop.id, uploadId: upload };
    const at = (seconds: number) => new Date(Date.now() - seconds * 1000);
    await beginUpload(world.store.write, key, at(5), at(60));
    await updateUploadProgress(world.store.write, key, { at: at(5), percent: 40, counts: '{}' });
    assert.match(plain((await visitor.get(file)).text), /40% of the file has been read/);
    await visitor.post(`${file}/continue`, { upload });
    assert.equal((await findUpload(world.store.write, shop.id))?.percent, 40);
    await updateUploadProgress(world.store.write, key, { at: at(70), percent: 40, counts: '{}' });
    const interrupted = plain((await visitor.get(file)).text);
    assert.match(interrupted, /Import interrupted .*No records were imported\./);
    await visitor.post(`${file}/continue`, { upload });
    assert.match(plain((await resultOf(visitor, file)).text), /Subscriptions 1 0 0 0 0 0/);
  });
});
