import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, get } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAnyStore, startWorld } from '../support/world.ts';

/** More than any client of this test needs to learn that its connection closes. */
const drainMilliseconds = 600_000;

test('stopping under load answers every request, and closes connections with their last response', async (t) => {
  const world = await startWorld(openAnyStore());
  const { service, key } = world;
  const agent = new Agent({ keepAlive: true, maxSockets: 24 });
  t.after(async () => {
    agent.destroy();
    await world.close();
  });
  const send = (url: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        response.resume().once('end', () => resolve(response));
      }).once('error', reject);
    });

  // Like a load balancer: once a response closes its connection, this server gets no more requests.
  let isLeaving = false;
  let readiness: number | undefined;
  let answers = 0;
  const warm = Promise.withResolvers<void>();
  const clients = Array.from({ length: 24 }, async (_, client) => {
    while (!isLeaving) {
      const response = await send(`${world.base}/plans`);
      assert.equal(response.statusCode, 200);
      answers += 1;
      if (answers === 500) warm.resolve();
      if (response.headers.connection === 'close' && !isLeaving) {
        isLeaving = true;
        readiness = (await send(`${service.baseUrl}/readyz`)).statusCode;
      }
      if (client % 2 === 1) await sleep(Math.random() * 5);
    }
  });
  // A silent client, so that the service does not run out of connections at once.
  const { hostname, port } = new URL(service.baseUrl);
  const silent = connect(Number(port), hostname);
  await warm.promise;
  const closing = service.close(drainMilliseconds);
  await Promise.all(clients);
  assert.equal(readiness, 503);
  silent.destroy();
  agent.destroy();
  await closing;
});
