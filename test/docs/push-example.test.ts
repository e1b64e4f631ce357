import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { createSource, credentialsKeys } from '../door/world.ts';
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
    const given = { baseUrl: service.baseUrl, sourceId, secret };
    const program = [
      `const { baseUrl, sourceId, secret } = ${JSON.stringify(given)};`,
      code,
      'console.log(response.status, Object.keys(await response.json()).join());',
    ].join('\n');
    const { output, errors } = await runExample('ts', program, '');
    assert.equal(output, '202 batchId\n', errors);
  });
});
