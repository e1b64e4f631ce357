import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../../src/access/keys/key-leases.ts';
import { systemClock } from '../../src/clock.ts';
import { updateRevokedKey } from '../../src/store/keys/keys.ts';
import { connectAll } from '../../src/store/open.ts';
import { updateShopTier } from '../../src/store/shops.ts';
import { createShop, createTestKey, now, startTestService } from '../support/world.ts';
import { serverUrl } from '../support/databases.ts';

const postgres = serverUrl;
const skip = postgres === undefined && 'PostgreSQL is not available on this machine';

const tries = 400;
/** The changes are spread over this time, so that they meet leases of every age. */
const spreadMilliseconds = 3_000;

describe('two instances under load', { skip, timeout: 600_000 }, () => {
  // Requirements: rest.auth.revoked-at-once.
  test('admit no request after a revocation or tier change is acknowledged, in 400 tries', async (t) => {
    const store = connectAll(postgres as string);
    const services = [
      await startTestService(store, { clock: systemClock }),
      await startTestService(store, { clock: systemClock }),
    ];
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    t.after(async () => {
      agent.destroy();
      for (const service of services) await service.close();
      await store.close();
    });

    const statusOf = (baseUrl: string, key: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}` };
        get(`${baseUrl}/api/external/v1/plans`, { agent, headers }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        }).once('error', reject);
      });
    const statuses = (key: string) =>
      Promise.all(services.map(({ baseUrl }) => statusOf(baseUrl, key)));

    const attempts = await Promise.all(
      Array.from({ length: tries }, async (_, index) => {
        const shop = await createShop(store, { tier: 'enterprise_plus' });
        const { id, key } = await createTestKey(store, shop.id);
        // Half of them revoke the key, the others change the tier.
        return index % 2 === 0
          ? {
              key,
              refusal: 401,
              change: () => updateRevokedKey(store.write, shop.id, id, new Date(now)),
            }
          : { key, refusal: 403, change: () => updateShopTier(store.write, shop.id, 'starter') };
      }),
    );

    // All keys are used constantly, so that the leases are as recent as possible.
    const over = new AbortController();
    let sent = 0;
    const load = Array.from({ length: 24 }, async (_, worker) => {
      for (let each = worker; !over.signal.aborted; each = (each + 24) % tries) {
        const { key = '', refusal } = attempts[each] ?? {};
        for (const status of await statuses(key)) assert.ok(status === 200 || status === refusal);
        sent += 2;
      }
    });

    const admitted = await Promise.all(
      attempts.map(async ({ key, refusal, change }, index) => {
        await sleep((index / tries) * spreadMilliseconds);
        assert.deepEqual(await statuses(key), [200, 200]);
        assert.equal(await change(), true);
        await sleep(leaseDrainMilliseconds);
        const after = await statuses(key);
        return after.filter((status) => status !== refusal).length;
      }),
    );
    over.abort();
    await Promise.all(load);
    assert.deepEqual(
      admitted.filter((count) => count > 0),
      [],
    );
    assert.ok(sent > tries / 10, `only ${sent} requests were sent meanwhile`);
  });
});
