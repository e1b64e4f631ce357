import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, get } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createShopWithKey, launchServer, migratedFolder } from '../cli/process.ts';

describe('a server that is told to stop under load', { timeout: 240_000 }, () => {
  const env = { RETENTION_DATA_DIR: migratedFolder(), LOG_LEVEL: 'error' };
  const agent = new Agent({ keepAlive: true, maxSockets: 24 });
  let key = '';
  before(async () => {
    key = await createShopWithKey(env, 'read:plans');
  });
  after(() => agent.destroy());

  const ask = (url: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        response.resume().once('end', () => resolve(response));
      }).once('error', reject);
    });

  test('answers every request, the last of a connection says so, and readyz sends nobody more', async () => {
    const server = await launchServer('serve', env);
    const plans = `${server.baseUrl}/api/external/v1/plans`;
    // As a load balancer: whoever hears that a connection ends sends this server nothing more.
    let isLeaving = false;
    let readiness: number | undefined;
    let answers = 0;
    const warm = Promise.withResolvers<void>();
    const clients = Array.from({ length: 24 }, async (_, client) => {
      while (!isLeaving) {
        const response = await ask(plans);
        assert.equal(response.statusCode, 200);
        answers += 1;
        if (answers === 500) warm.resolve();
        if (response.headers.connection === 'close' && !isLeaving) {
          isLeaving = true;
          readiness = (await ask(`${server.baseUrl}/readyz`)).statusCode;
        }
        if (client % 2 === 1) await sleep(Math.random() * 5);
      }
    });
    // Somebody who says nothing, so that the server does not find itself alone at once.
    const { hostname, port } = new URL(server.baseUrl);
    const silent = connect(Number(port), hostname);
    await warm.promise;
    server.child.kill('SIGTERM');
    await Promise.all(clients);
    assert.equal(readiness, 503);
    silent.destroy();
    assert.equal((await server.ended).code, 0);
  });
});
