import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launchServer } from '../cli/process.ts';
import { type StandIn, startStandIn } from '../feeds/shopify/stand-in.ts';
import { StandInWorld } from '../feeds/shopify/stand-in-world.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { get } from '../support/world.ts';
import { createShopWithKey } from './shop-with-key.ts';
import { putContract } from '../webhooks/source.ts';
import { deliverWebhook, secret, writeCredentials } from '../webhooks/world.ts';

const domain = 'sample-shop.myshopify.com';
/**
 * A dead process's jobs are taken over when it has sent no heartbeat for 10 seconds, which is looked for every 10 seconds,
 * then retried after a pause that grows: half a minute on a quiet machine.
 */
const takeOverMinutes = 4;
const contracts = [1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008];

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('acknowledged webhooks', { skip, timeout: 600_000 }, () => {
  let postgres: PostgresServer;
  let standIn: StandIn;
  let env: Record<string, string>;
  let key = '';
  before(async () => {
    postgres = await requirePostgres(['fsync=off']);
    standIn = await startStandIn(new StandInWorld());
    env = {
      DATABASE_URL: postgres.url,
      LOG_LEVEL: 'silent',
      // Webhooks alone bring the contracts here.
      SYNC: 'off',
      SHOPIFY_CLIENT_SECRET: secret,
      SHOPIFY_CREDENTIALS_FILE: writeCredentials([{ shop: { id: 1 }, domain }], standIn),
    };
    key = await createShopWithKey(env, 'read:subscriptions');
  });
  after(async () => {
    await standIn.close();
    await postgres.destroy();
  });

  const listed = async (baseUrl: string): Promise<number[]> => {
    const { body } = await get(`${baseUrl}/api/external/v1/subscriptions`, key);
    return body.subscriptions
      .map((each: { subscriptionId: number }) => each.subscriptionId)
      .toSorted();
  };
  const notify = async (baseUrl: string, ids: readonly number[]) => {
    for (const id of ids) {
      const topic = 'subscription_contracts/create';
      assert.equal((await deliverWebhook(baseUrl, domain, topic, { id })).status, 200);
    }
  };

  test('are processed after the server is killed and restarted', async () => {
    standIn.pause = () => new Promise(() => {});
    for (const id of contracts) putContract(standIn.world, id);
    const killed = await launchServer('serve', env);
    await notify(killed.baseUrl, contracts);
    // By then some are running, and some wait.
    await until(() => standIn.requests.length >= 2);
    killed.child.kill('SIGKILL');
    assert.equal((await killed.ended).signal, 'SIGKILL');

    standIn.pause = async () => {};
    standIn.requests.length = 0;
    const next = await launchServer('serve', env);
    const all = await until(
      () => listed(next.baseUrl),
      (ids) => ids.length === contracts.length,
      { minutes: takeOverMinutes },
    );
    assert.deepEqual(all, contracts);
    next.child.kill('SIGTERM');
    assert.equal((await next.ended).code, 0);
  });

  test('are processed after the server is stopped while they run, and restarted', async () => {
    standIn.pause = () => new Promise(() => {});
    standIn.requests.length = 0;
    putContract(standIn.world, 1009);
    const stopped = await launchServer('serve', env);
    await notify(stopped.baseUrl, [1009]);
    await until(() => standIn.requests.length >= 1);
    stopped.child.kill('SIGTERM');
    assert.equal((await stopped.ended).code, 0);

    standIn.pause = async () => {};
    const next = await launchServer('serve', env);
    await until(
      () => listed(next.baseUrl),
      (ids) => ids.includes(1009),
      { minutes: takeOverMinutes },
    );
    next.child.kill('SIGTERM');
    assert.equal((await next.ended).code, 0);
  });
});
