import assert from 'node:assert/strict';
import { type TestContext, after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { FixedClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { listKeyRequests } from '../../src/store/keys/requests.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { createShop, createTestKey, now, startTestService } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
/** The hour of `now`, counted from 1970. */
const noon = 498_660;

describe('key usage while the database is down', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  let store: Store;
  before(async () => {
    server = await requirePostgres(['fsync=off']);
    store = connectAll(server.url);
    await migrate(store.write);
  });
  after(async () => {
    await store.close();
    await server.destroy();
  });

  /** A service with a key used three times: the first use is stored, and a write of the others failed. */
  async function useWhileDown(t: TestContext) {
    const clock = new FixedClock(now);
    const logged: string[] = [];
    const log = createLog('warn', { write: (line) => void logged.push(line) });
    const service = await startTestService(store, { clock, log });
    t.after(() => service.close());
    const shop = await createShop(store);
    const { id, key } = await createTestKey(store, shop.id);
    const useKey = async () => {
      const url = `${service.baseUrl}/api/external/v1/plans`;
      return (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
    };
    const stored = async () =>
      [...(await listKeyRequests(store.write, shop.id, 0))].map(([keyId, hours]) => [
        keyId,
        ...hours,
      ]);
    const failures = () =>
      logged.filter((line) => line.includes('could not store key usage, will retry'));

    assert.equal(await useKey(), 200);
    await until(stored, ({ length }) => length > 0);
    clock.advance(59_500);
    assert.equal(await useKey(), 200);
    await server.stop();
    // The key's record is still trusted, and a minute has passed.
    clock.advance(500);
    assert.equal(await useKey(), 500);
    await until(failures, ({ length }) => length === 1);
    await server.start();
    return { id, service, clock, stored, failures };
  }

  test('is stored a minute later, even if the key is not used again', async (t) => {
    const { id, service, clock, stored, failures } = await useWhileDown(t);
    assert.deepEqual(await until(() => stored().catch(() => undefined)), [[id, [noon, 1]]]);
    clock.advance(60_000);
    await until(stored, (rows) => !isDeepStrictEqual(rows, [[id, [noon, 1]]]));
    assert.deepEqual(await stored(), [[id, [noon, 3]]]);
    await service.close();
    assert.deepEqual(await stored(), [[id, [noon, 3]]]);
    assert.equal(failures().length, 1);
  });

  test('is stored when the service stops, even within the minute', async (t) => {
    const { id, service, stored, failures } = await useWhileDown(t);
    await until(() => stored().catch(() => undefined));
    await service.close();
    assert.deepEqual(await stored(), [[id, [noon, 3]]]);
    assert.equal(failures().length, 1);
  });
});
