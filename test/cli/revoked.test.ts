import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { newShopId, run, runningFolder, throwawayFolder } from './process.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';

for (const [name, env, skip] of [
  ['embedded', { RETENTION_DATA_DIR: runningFolder() }, false],
  [
    'PostgreSQL',
    { DATABASE_URL },
    DATABASE_URL === '' && 'PostgreSQL is not available on this machine',
  ],
] as const) {
  describe(`keys revoked (${name})`, { skip }, () => {
    const runOk = async (...args: string[]) => {
      const { code, out, err } = await run(args, { env: { ...env, LOG_LEVEL: 'warn' } });
      assert.deepEqual([code, err], [0, '']);
      return out;
    };
    const createShop = async () => {
      const shop = newShopId();
      await runOk('shops', 'create', '--id', shop, '--name', 'Shop', '--currency', 'USD');
      const create = ['keys', 'create', '--shop', shop, '--name', 'Till', '--scopes', 'read:plans'];
      const keys: string[] = [];
      for (let made = 0; made < 2; made += 1) {
        keys.push(JSON.parse(await runOk(...create, '--json')).id);
      }
      return { shop, keys };
    };

    test('lists the keys revoked since a given time, for one shop or all shops', async () => {
      const [one, other] = [await createShop(), await createShop()];
      const list = async (since: string, ...more: string[]) => {
        const all: { shopId: number; keyId: string }[] = JSON.parse(
          await runOk('keys', 'revoked', '--since', since, ...more, '--json'),
        );
        const shops = new Set([Number(one.shop), Number(other.shop)]);
        return all.filter(({ shopId }) => shops.has(shopId));
      };
      assert.deepEqual(await list('1h'), []);
      const none = await runOk('keys', 'revoked', '--since', '1h', '--shop', one.shop);
      assert.match(none, /^No key was revoked or rotated since \d{4}-[^ ]*Z\.\n$/);

      const [first = '', second = ''] = [one.keys[0], other.keys[1]];
      await runOk('keys', 'revoke', '--shop', one.shop, first);
      const [known] = JSON.parse(await runOk('keys', 'list', '--shop', one.shop, '--json'));
      const entry = {
        shopId: Number(one.shop),
        keyId: first,
        name: 'Till',
        revokedAt: known.revokedAt,
        expiresAt: null,
        replacedBy: null,
      };
      assert.deepEqual(await list('1h'), [entry]);
      await runOk('keys', 'revoke', '--shop', other.shop, second);
      assert.deepEqual(
        (await list('1d')).map(({ keyId }) => keyId),
        [first, second],
      );
      assert.deepEqual(await list('1h', '--shop', one.shop), [entry]);
      // Inclusive, to the millisecond.
      assert.deepEqual(await list(known.revokedAt, '--shop', one.shop), [entry]);
      const after = new Date(Date.parse(known.revokedAt) + 1).toISOString();
      assert.deepEqual(await list(after, '--shop', one.shop), []);

      const table = await runOk('keys', 'revoked', '--since', '1h', '--shop', one.shop);
      assert.equal(
        table.replace(/ {2,}/g, ' | '),
        `SHOP | ID | NAME | REVOKED | REPLACED BY\n${one.shop} | ${first} | Till | ${known.revokedAt} | -\n`,
      );
    });

    test('names a shop that does not exist', async () => {
      const args = ['keys', 'revoked', '--since', '1h', '--shop', '9007199254740991'];
      const { code, out, err } = await run(args, { env });
      assert.deepEqual(
        [code, out, err],
        [1, '', 'retention: There is no shop 9007199254740991.\n'],
      );
    });
  });
}

test('keys revoked does not create a missing schema', async () => {
  const env = { RETENTION_DATA_DIR: path.join(throwawayFolder(), 'data') };
  cpSync(process.env['TEST_EMBEDDED_EMPTY_FOLDER'] as string, env.RETENTION_DATA_DIR, {
    recursive: true,
  });
  for (const _ of ['at first', 'again']) {
    const { code, out, err } = await run(['keys', 'revoked', '--since', '1h'], { env });
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^retention: The schema is not up to date; run "retention migrate"\.$/m);
  }
});
