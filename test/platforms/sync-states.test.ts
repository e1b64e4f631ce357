import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PlatformError } from '../../src/platforms/errors.ts';
import { disconnectShop } from '../../src/platforms/connect.ts';
import type { Store } from '../../src/store/open.ts';
import { upsertConnection, listSyncCounts } from '../../src/store/feeds/platforms.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { begin as beginWith, fail, hour, interval, refuse } from './fake.ts';

onEveryDatabase('what is stored of a sync', (open, database) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const begin = (count: number) => beginWith(store, database, count);

  test('is counted by how the last sync of each shop ended', async () => {
    const { fake, shops } = await begin(5);
    const [failing = 0, refused = 0, uninstalled = 0] = shops;
    fake.behaviours.set(failing, fail);
    fake.behaviours.set(refused, refuse);
    fake.backoff.set(uninstalled, 'The app is uninstalled.');
    await (await fake.process()).sync();
    const { name } = fake.platform;
    const counts = (await listSyncCounts(store.write)).filter(({ platform }) => platform === name);
    assert.deepEqual(counts.map(({ health, shops: count }) => `${health} ${count}`).toSorted(), [
      'failing 1',
      'ok 2',
      'refused 1',
    ]);
  });

  test('has a platform’s refusal in words for the owner, without advice for the operator', async () => {
    const { fake, shops } = await begin(2);
    const [own = 0, internal = 0] = shops;
    fake.behaviours.set(own, async () => {
      throw new PlatformError('refused', 'The login may write.', 'Run it with --force.');
    });
    fake.behaviours.set(internal, async () => {
      throw new TypeError('undefined is not a function');
    });
    await (await fake.process()).sync();
    const { problem, reason } = (await fake.stateOf(own)) ?? {};
    assert.equal(problem, 'The login may write. Run it with --force.');
    assert.equal(reason, 'The login may write.');
    assert.equal((await fake.stateOf(internal))?.reason, null);
  });

  test('is one line of an unexpected error, without passwords; the log has the stack', async () => {
    const { fake, one } = await begin(1);
    fake.behaviours.set(one, async () => {
      throw new TypeError('no answer from https://user:secret@proxy:1');
    });
    const { sync, logged } = await fake.process();
    await sync();
    const line = 'TypeError: no answer from https://user:[redacted]@proxy:1';
    assert.equal((await fake.stateOf(one))?.problem, line);
    const [{ reason = '' } = {}] = logged;
    assert.ok(reason.startsWith(`${line}\n    at `), reason);
  });

  test('forgets a shop that was removed from the file and has not been synced for an hour', async () => {
    const { fake, shops, one } = await begin(2);
    const { sync } = await fake.process();
    fake.behaviours.set(one, fail);
    await sync();
    fake.connected.shift();
    const dueAt = Number((await fake.stateOf(one))?.dueAt);
    fake.clock.advance(dueAt - fake.clock.now() + hour);
    await sync();
    assert.notEqual(await fake.stateOf(one), undefined);
    fake.clock.advance(1);
    await sync();
    assert.equal(await fake.stateOf(one), undefined);
    assert.notEqual(await fake.stateOf(shops[1] as number), undefined);
  });

  test('keeps no state of a shop that was disconnected, even during a sync', async () => {
    const { fake, one } = await begin(1);
    const { platform } = fake;
    fake.connect(one, '1', 'database');
    const connectedAt = new Date(fake.clock.now());
    const row = { shopId: one, account: `account-${one}`, credentials: 'sealed', connectedAt };
    await store.write.begin((tx) => upsertConnection(tx, platform.name, row));
    const { sync } = await fake.process();
    await sync();
    assert.notEqual(await fake.stateOf(one), undefined);

    const by = { at: connectedAt, by: { who: 'command line' } };
    fake.behaviours.set(one, async () => {
      assert.ok(await disconnectShop(store.write, one, platform, by));
      await fail();
    });
    fake.clock.advance(interval);
    await sync();
    assert.deepEqual([fake.countOf(one), await fake.stateOf(one)], [2, undefined]);
  });
});
