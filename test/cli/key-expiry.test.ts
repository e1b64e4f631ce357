import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWellFormedKey } from '../../src/access/keys/key-format.ts';
import { newShopId, run } from './process.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL, LOG_LEVEL: 'warn' };
const hour = 3_600_000;

async function runOk(...args: string[]) {
  const { code, out, err } = await run(args, { env });
  assert.equal(code, 0, err);
  return { out, err };
}

test('a key expires after the hours or days given with --expires-in', { skip }, async () => {
  const shop = newShopId();
  await runOk('shops', 'create', '--id', shop, '--name', 'Shop', '--currency', 'USD');
  const create = ['keys', 'create', '--shop', shop, '--name', 'x', '--scopes', 'read:plans'];
  for (const [duration, milliseconds] of [
    ['1h', hour],
    ['7d', 168 * hour],
    ['3650d', 87_600 * hour],
    ['87600h', 87_600 * hour],
  ] as const) {
    const before = Date.now();
    const made = JSON.parse((await runOk(...create, '--expires-in', duration, '--json')).out);
    const began = Date.parse(made.expiresAt) - milliseconds;
    assert.ok(before <= began && began <= Date.now(), made.expiresAt);
    const listed = JSON.parse((await runOk('keys', 'list', '--shop', shop, '--json')).out).at(-1);
    assert.deepEqual([listed.id, listed.expiresAt], [made.id, made.expiresAt]);
    const table = (await runOk('keys', 'list', '--shop', shop)).out;
    assert.match(table, new RegExp(`^${made.id} .* active until ${made.expiresAt}$`, 'm'));
  }
  const { out, err } = await runOk(...create, '--expires-in', '30d');
  assert.equal(isWellFormedKey(out.trimEnd()), true);
  assert.match(err, /\nIt expires at \d{4}-\d\d-\d\dT[\d:.]+Z\.\n$/);
});
