import assert from 'node:assert/strict';
import {
  deleteOldBatches,
  findBatch,
  findQueueUse,
  insertBatch,
  listNextBatches,
  listShopsWithOpenBatches,
  listWaitingKeys,
  lockOpenBatch,
  summariseOpenBatches,
  updateBatch,
  updateBatchAttempts,
  updateRetries,
} from '../../src/store/push/batches.ts';
import {
  findPushSource,
  insertPushSource,
  listLivePushSources,
  listPushSources,
  replaceSealedSecrets,
  updatePushSecret,
  updateRevokedPushSource,
} from '../../src/store/push/sources.ts';
import {
  beginUpload,
  deleteUpload,
  findRememberedAnswers,
  findUpload,
  forgetAnswers,
  rememberAnswers,
  finishUpload,
  stopUpload,
  updateUploadAnswers,
  updateUploadProgress,
  upsertUpload,
} from '../../src/store/push/uploads.ts';
import type { Store } from '../../src/store/open.ts';
import { now } from '../support/world.ts';

/** A source that pushes a batch, which is stored, and what is done with the source. */
export async function usePushSources({ write }: Store, shopId: number): Promise<void> {
  const at = new Date(now);
  const source = { shopId, sourceId: `src_${shopId}` };
  const created = {
    ...source,
    name: 'Test',
    scheme: 'standard',
    createdBy: 'test',
    createdAt: at,
    secret: 'sealed',
  };
  assert.ok(await write.begin((tx) => insertPushSource(tx, created)));
  assert.equal(await write.begin((tx) => insertPushSource(tx, created)), false);
  for (const before of [null, undefined]) {
    await write.begin((tx) => updatePushSecret(tx, source, 'sealed again', { until: at, before }));
  }
  await replaceSealedSecrets(
    write,
    { ...source, secret: 'sealed again' },
    { secret: 'sealed anew', previousSecret: null },
  );
  assert.equal((await findPushSource(write, source.sourceId))?.secret, 'sealed anew');
  assert.equal((await listLivePushSources(write)).at(-1)?.name, 'Test');

  const key = { ...source, batchId: '00000000-0000-4000-8000-000000000002' };
  const texts = { digest: '', outcomes: '{}', refused: '[]', refusedCount: 0 };
  const batch = { ...key, ...texts, receivedAt: at, lines: '1 {}' };
  assert.ok(await insertBatch(write, batch));
  assert.equal(await insertBatch(write, batch), false);
  // Another source of the shop cannot read it.
  assert.equal(await findBatch(write, { ...key, sourceId: `src_other_${shopId}` }), undefined);
  const use = await findQueueUse(write, source);
  assert.deepEqual([use.shop.queued, use.source.bytes], [1, 4]);
  assert.equal((await listNextBatches(write, shopId, false)).length, 1);
  assert.ok((await summariseOpenBatches(write)).most.queued >= 1);
  assert.equal((await listShopsWithOpenBatches(write)).at(-1), shopId);
  await updateBatchAttempts(write, key);
  await write.begin(async (tx) => {
    assert.equal((await lockOpenBatch(tx, key))?.attempts, 1);
    const waiting = { lines: '1 {}', waitingKeys: ['plan 1'], retryAt: at };
    await updateBatch(tx, key, { ...texts, ...waiting, hasFailed: false, finishedAt: null });
    assert.equal((await listWaitingKeys(tx, key, ['plan 1'])).size, 0);
  });
  await updateRetries(write, source, ['plan 1'], at);
  assert.deepEqual((await listNextBatches(write, shopId, true))[0]?.dueAt, at);
  await write.begin(async (tx) => {
    const none = { lines: null, waitingKeys: [], retryAt: null };
    const refused = { refused: '[{"line":1,"reason":"test"}]', refusedCount: 1 };
    await updateBatch(tx, key, {
      ...texts,
      ...none,
      ...refused,
      hasFailed: false,
      finishedAt: at,
    });
  });
  assert.deepEqual((await findBatch(write, key))?.finishedAt, at);
  const [listed] = await listPushSources(write, shopId, at.getTime());
  assert.deepEqual([listed?.lastBatchAt, listed?.lastRefusedReason], [at, 'test']);
  await deleteOldBatches(write, source, new Date(at.getTime() + 1), ['standard']);
  assert.ok(await findBatch(write, key), 'its source keeps them');
  await deleteOldBatches(write, source, new Date(at.getTime() + 1), []);
  assert.equal(await findBatch(write, key), undefined);
  assert.ok(await write.begin((tx) => updateRevokedPushSource(tx, source, at)));
}

/** A file that is uploaded, imported, stopped and removed. */
export async function useUploads({ write }: Store, shopId: number): Promise<void> {
  const at = new Date(now);
  const later = new Date(at.getTime() + 1);
  const key = { shopId, uploadId: '00000000-0000-4000-8000-000000000003' };
  const upload = { ...key, fileName: 'a.csv', bytes: 7, receivedAt: at };
  assert.ok(await upsertUpload(write, upload, at));
  assert.ok(await updateUploadAnswers(write, key, '{}'));
  assert.ok(await beginUpload(write, key, at, at));
  assert.equal(await beginUpload(write, key, at, at), false);
  assert.equal(await upsertUpload(write, upload, at), false);
  assert.equal(await deleteUpload(write, key, at), false);
  assert.ok(await updateUploadProgress(write, key, { at, percent: 50, counts: '{}' }));
  assert.ok(await stopUpload(write, key));
  assert.equal(await updateUploadProgress(write, key, { at, percent: 60, counts: '{}' }), false);
  assert.ok(await beginUpload(write, key, at, later));
  const texts = {
    counts: '{}',
    refused: '{}',
    skipped: 1,
    figures: 'null',
    problem: null,
    answers: '{}',
  };
  await finishUpload(write, key, { ...texts, state: 'done', finishedAt: at });
  const found = await findUpload(write, shopId);
  assert.deepEqual([found?.state, found?.percent, found?.skipped], ['done', 0, 1]);
  const remembered = { headings: 'a', answers: '[]', at };
  await rememberAnswers(write, shopId, remembered);
  await rememberAnswers(write, shopId, { ...remembered, answers: '[["price","x"]]' });
  assert.equal(await findRememberedAnswers(write, shopId, 'a'), '[["price","x"]]');
  await forgetAnswers(write, shopId, 'a');
  assert.equal(await findRememberedAnswers(write, shopId, 'a'), undefined);
  assert.ok(await deleteUpload(write, key, at));
  assert.equal(await findUpload(write, shopId), undefined);
}
