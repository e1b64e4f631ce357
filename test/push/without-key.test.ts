import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import {
  type SecretParts,
  createSecret,
  revokeSecret,
  rotateSecret,
} from '../../src/access/secrets.ts';
import { pushSources, secretSealing } from '../../src/push/sources.ts';
import { createLog } from '../../src/log/log.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { type TestShop, createShop, silentLog, startTestService } from '../support/world.ts';
import { type TestSource, credentialsKeys, deliver, finished, push } from './world.ts';

const session = {
  type: 'cancellation',
  id: 7001,
  detectedReason: 'too_expensive',
  createdAt: '2026-11-17T10:58:00Z',
};

onOneOwnDatabase('push sources without CREDENTIALS_KEY', (open) => {
  let store: Store;
  let shop: TestShop;
  let parts: SecretParts;
  const services: Service[] = [];
  before(async () => {
    store = open();
    shop = await createShop(store);
    parts = { sql: store.write, clock: systemClock, log: silentLog };
  });
  after(async () => {
    for (const service of services) await service.close();
    await store.close();
  });
  const start = async (keys: readonly Buffer[], log = silentLog) => {
    const service = await startTestService(store, {
      clock: systemClock,
      credentialsKeys: keys,
      log,
    });
    services.push(service);
    return service;
  };
  const targetOf = (id: string) =>
    ({ shopId: shop.id, id, actor: { who: 'command line' } }) as const;
  const create = async (keys: readonly Buffer[] = []): Promise<TestSource> => {
    const sourceId = pushSources.newId();
    const source = { name: 'Test', sealing: secretSealing(keys) };
    const created = await createSecret(pushSources, parts, targetOf(sourceId), source);
    assert.ok(created.kind === 'created');
    return { sourceId, secret: created.secret };
  };
  const rotate = async ({ sourceId }: TestSource, keys: readonly Buffer[] = []) => {
    const renewal = { sealing: secretSealing(keys), overlapMilliseconds: 3_600_000 };
    const rotated = await rotateSecret(pushSources, parts, targetOf(sourceId), renewal);
    assert.ok(rotated.kind === 'created');
    return { sourceId, secret: rotated.secret };
  };
  const statusOf = async ({ baseUrl }: Service, source: TestSource) =>
    (await deliver(baseUrl, source, [session])).status;
  const tableText = async () =>
    JSON.stringify(await store.write`select * from ingest.sources order by source_id`);

  test('work with secrets stored plainly, which the next start with a key encrypts', async () => {
    const service = await start([]);
    const first = await create();
    const { status, body } = await deliver(service.baseUrl, first, [session]);
    assert.equal(status, 202);
    const { outcomes } = await finished(service.baseUrl, first, body.batchId);
    assert.equal(outcomes['stored'], 1);
    const second = await rotate(first);
    const revoked = await create();
    assert.equal(await revokeSecret(pushSources, parts, targetOf(revoked.sourceId)), true);
    assert.equal(await statusOf(service, revoked), 401);
    assert.deepEqual([await statusOf(service, first), await statusOf(service, second)], [202, 202]);
    const stored = await tableText();
    for (const { secret } of [first, second]) assert.ok(stored.includes(`"plain:${secret}"`));
    assert.ok(!stored.includes(revoked.secret));

    const withKey = await start(credentialsKeys);
    const text = await until(tableText, (each) => !each.includes('plain:'));
    for (const { secret } of [first, second]) assert.ok(!text.includes(secret.slice(6)));
    const third = await rotate(first, credentialsKeys);
    assert.deepEqual([await statusOf(withKey, first), await statusOf(withKey, second)], [401, 202]);
    assert.equal(await statusOf(withKey, third), 202);
    assert.equal(await revokeSecret(pushSources, parts, targetOf(first.sourceId)), true);
    assert.equal(await statusOf(withKey, third), 401);
  });

  test('answer 503 where a secret is encrypted, say why only in the log, and serve the others', async () => {
    let said = '';
    const service = await start([], createLog('info', { write: (line) => void (said += line) }));
    const [sealed, plain] = [await create(credentialsKeys), await create()];
    const { status, headers, body } = await push(service.baseUrl, sealed, [session]);
    assert.deepEqual([status, headers.get('retry-after')], [503, '60']);
    assert.deepEqual(body, { success: false, message: 'Try again later.' });
    assert.equal(await statusOf(service, plain), 202);
    const { sourceId } = sealed;
    const context = `push source ${sourceId} of shop ${shop.id}`;
    assert.ok(
      said.includes(
        `CREDENTIALS_KEY is not set, so the stored credentials of ${context} cannot be decrypted.`,
      ),
    );
    assert.ok(!said.includes(plain.secret.slice(6)) && !said.includes(sealed.secret.slice(6)));

    // Rotating helps at once; who still signs with the old secret is to try again until it ends.
    const rotated = await rotate(sealed);
    assert.deepEqual(
      [await statusOf(service, rotated), (await push(service.baseUrl, sealed, [session])).status],
      [202, 503],
    );
    const other = { ...sealed, secret: plain.secret };
    assert.equal((await push(service.baseUrl, other, [session])).status, 503);
    assert.equal(await statusOf(service, { ...plain, secret: sealed.secret }), 401);
  });
});
