/* The clients while the demo is killed and started again. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, test } from 'node:test';
import { clients } from '../test/clients/live.ts';
import { launchServer, throwawayFolder } from '../test/cli/process.ts';
import { freePort } from '../test/support/postgres.ts';
import { get } from '../test/support/world.ts';

test('clients keep what they know while the service is dead, and say so about the rest', async () => {
  const env = {
    RETENTION_DATA_DIR: path.join(throwawayFolder(), 'data'),
    PORT: String(await freePort()),
  };
  const demo = await launchServer('demo', env);
  const [, key = ''] = await demo.said(/curl -H "Authorization: Bearer (rtn_[\w-]{43})"/);
  const { baseUrl } = demo;
  const customers = Array.from({ length: 20 }, (_, index) => 501 + index);
  const truth = await Promise.all(
    customers.map(async (id) => {
      const { body } = await get(`${baseUrl}/api/external/v1/entitlements?customerId=${id}`, key);
      return body.subscriptions.some((each: { isEntitled: boolean }) => each.isEntitled);
    }),
  );
  assert.equal(new Set(truth).size, 2, 'some are entitled, some are not');

  const askers = clients
    .filter(({ missing }) => missing === false)
    .map(({ open }) => open({ baseUrl, key, maxRetries: 1, graceSeconds: 3600 }));
  assert.equal(askers.length, 3);
  after(() => askers.forEach((each) => each.close()));
  const answersAbout = async (asker: (typeof askers)[number], ids: readonly number[]) => {
    const answers: unknown[] = [];
    for (const id of ids) {
      const { value, error } = await asker.ask('entitled', [id], {});
      answers.push(error ?? value);
    }
    return answers;
  };
  const known = customers.slice(0, 10);
  for (const asker of askers) {
    assert.deepEqual(await answersAbout(asker, known), truth.slice(0, 10));
  }

  demo.child.kill('SIGKILL');
  await demo.ended;
  for (const asker of askers) {
    assert.deepEqual(await answersAbout(asker, known), truth.slice(0, 10));
    // Nothing is known about these: not that they are not entitled either.
    assert.deepEqual(
      await answersAbout(asker, customers.slice(10, 13)),
      Array.from({ length: 3 }, () => 'UnavailableError'),
    );
    const { error } = await asker.ask('getMetricsSummary', [], {});
    assert.equal(error, 'UnavailableError');
  }

  const again = await launchServer('serve', env);
  for (const asker of askers) assert.deepEqual(await answersAbout(asker, customers), truth);
  again.child.kill();
  await again.ended;
});
