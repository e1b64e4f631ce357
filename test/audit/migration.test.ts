import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { verifyChain } from '../../src/accounts/audit/chain.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { auditOf } from '../support/audit.ts';
import { type Place, places } from '../support/empty-database.ts';
import { createReleasedSchema } from '../support/migrations.ts';

const owner = '00000000-0000-4000-8000-000000000001';

for (const [name, createPlace] of places) {
  const skip = createPlace === undefined && `${name} is not available on this machine`;
  describe(`the log of keys of version 1.0.0 (${name})`, { skip }, () => {
    let place: Place;
    let store: Store;
    before(async () => {
      place = createPlace!();
      store = connectAll(await place.target());
      const { write } = store;
      await createReleasedSchema(write);
      await enter(7, '2026-03-01T00:00:00Z', null, 'key_revoked', 'key_2', 'Till');
      await enter(7, '2026-01-01T00:00:00Z', owner, 'key_created', 'key_2', 'Till');
      await enter(8, '2026-02-01T00:00:00Z', null, 'key_created', 'key_3', 'A, "B"');
      await enter(7, '2026-02-01T00:00:00.123Z', owner, 'key_rotated', 'key_1', 'Old');
      await enter(7, '2026-04-01T00:00:00Z', null, 'key_uninstalled', 'key_4', 'App');
      await migrate(write);
    });
    after(async () => {
      await store.close();
      await place.remove();
    });

    /** As version 1.0.0 does. */
    const enter = (...values: readonly (string | number | null)[]) =>
      store.write.unsafe(
        `insert into owners.log (shop_id, at, owner_id, action, key_id, key_name)
         values ($1, $2, $3, $4, $5, $6)`,
        values,
      );
    const listAsBefore = (shopId: number) =>
      store.write`
        select l.at, a.email, l.owner_id is null as "isCommandLine", l.action,
          l.key_id as "keyId", l.key_name as "keyName"
        from owners.log l left join owners.accounts a using (owner_id)
        where l.shop_id = ${shopId} order by l.at desc, l.entry_id desc limit ${9}`;
    const problemsOf = async (shopId: number) =>
      (await verifyChain(store.write, shopId, { keys: [], seen: () => {} })).problems;

    test('is in the audit log, in its order, as chains', async () => {
      const shown = (await auditOf(store.write, 7)).map((entry) => [
        entry.at.toISOString(),
        entry.who,
        entry.what,
        entry.target,
      ]);
      assert.deepEqual(shown, [
        ['2026-01-01T00:00:00.000Z', `owner ${owner}`, 'key_created', 'key_2 Till'],
        ['2026-02-01T00:00:00.123Z', `owner ${owner}`, 'key_rotated', 'key_1 Old'],
        ['2026-03-01T00:00:00.000Z', 'command line', 'key_revoked', 'key_2 Till'],
        ['2026-04-01T00:00:00.000Z', 'platform', 'key_uninstalled', 'key_4 App'],
      ]);
      assert.equal((await auditOf(store.write, 8))[0]?.target, 'key_3 A, "B"');
      assert.deepEqual([await problemsOf(7), await problemsOf(8)], [[], []]);
    });

    test('is read and written by an instance of that version that still runs', async () => {
      await enter(7, '2026-05-01T00:00:00Z', owner, 'key_created', 'key_5', 'New key');
      const last = (await auditOf(store.write, 7)).at(-1);
      assert.deepEqual([last?.number, last?.target], [5, 'key_5 New key']);
      assert.deepEqual(await problemsOf(7), []);
      const listed = await listAsBefore(7);
      assert.deepEqual(
        listed.map(({ action, keyId, keyName, isCommandLine }) => [
          action,
          keyId,
          keyName,
          isCommandLine,
        ]),
        [
          ['key_created', 'key_5', 'New key', false],
          ['key_uninstalled', 'key_4', 'App', true],
          ['key_revoked', 'key_2', 'Till', true],
          ['key_rotated', 'key_1', 'Old', false],
          ['key_created', 'key_2', 'Till', false],
        ],
      );
      // When it deletes a shop, what was done stays.
      await store.write`delete from owners.log where shop_id = ${8}`;
      assert.equal((await auditOf(store.write, 8)).length, 1);
    });
  });
}
