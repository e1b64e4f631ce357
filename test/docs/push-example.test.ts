import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { createSource, credentialsKeys } from '../push/world.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { createShop, startTestService } from '../support/world.ts';
import { runExample } from './examples.ts';

onOneOwnDatabase('the example of pushing', (open) => {
  let store: Store;
  let service: Service;
  before(async () => {
    store = open();
    service = await startTestService(store, { clock: systemClock, credentialsKeys });
  });
  after(async () => {
    await service.close();
    await store.close();
  });

  test('is accepted as it stands', async () => {
    const { sourceId, secret } = await createSource(store, await createShop(store));
    const page = await (await fetch(`${service.baseUrl}/docs/push.md`)).text();
    const [, code = ''] = /```js\n([^]*?)\n```/.exec(page) ?? [];
    const { output, errors } = await runExample({ language: 'js', code, file: 'push.mjs' }, '', {
      RETENTION_SOURCE_ID: sourceId,
      RETENTION_SOURCE_SECRET: secret,
    });
    assert.match(output, /^202 \{ batchId: '[\w-]+' \}\n$/, errors);
  });
});
