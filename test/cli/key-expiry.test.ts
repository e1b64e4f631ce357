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

test('--networks binds a key to networks, which the list shows', { skip }, async () => {
  const shop = newShopId();
  await runOk('shops', 'create', '--id', shop, '--name', 'Shop', '--currency', 'USD');
  const create = ['keys', 'create', '--shop', shop, '--name', 'x', '--scopes', 'read:plans'];
  const networks = ['203.0.113.0/24', '2001:db8::/32'];
  const bound = await runOk(...create, '--networks', `${networks.join(', ')},`, '--json');
  assert.deepEqual(JSON.parse(bound.out).networks, networks);
  const free = JSON.parse((await runOk(...create, '--json')).out);
  assert.deepEqual(free.networks, []);
  const listed = JSON.parse((await runOk('keys', 'list', '--shop', shop, '--json')).out);
  assert.deepEqual(
    (listed as { networks: string[] }[]).map((each) => each.networks),
    [networks, []],
  );
  const table = (await runOk('keys', 'list', '--shop', shop)).out;
  assert.match(table, /^key_\S+ .* 203\.0\.113\.0\/24,2001:db8::\/32 +2/m);
  const none = await run([...create, '--networks', ' , '], { env });
  assert.equal(none.code, 2);
  assert.match(none.err, /--networks: give at least one network/);
  const { code, err } = await run([...create, '--networks', '203.0.113.0/24,office'], { env });
  assert.equal(code, 2);
  assert.match(err, /--networks: “office” is not an IP address or network/);
});

test('shops key-policy sets for how long new keys are valid', { skip }, async () => {
  const shop = newShopId();
  await runOk('shops', 'create', '--id', shop, '--name', 'Shop', '--currency', 'USD');
  const create = ['keys', 'create', '--shop', shop, '--name', 'x', '--scopes', 'read:plans'];
  const policy = async (...args: string[]) =>
    (await runOk('shops', 'key-policy', '--id', shop, ...args)).out;
  const daysOf = async (...args: string[]) => {
    const made = JSON.parse((await runOk(...create, ...args, '--json')).out);
    return made.expiresAt && Math.round((Date.parse(made.expiresAt) - Date.now()) / (24 * hour));
  };
  assert.equal(
    await policy(),
    `New keys of shop ${shop} are valid forever by default, without a limit.\n`,
  );
  assert.equal(await daysOf(), null);
  assert.deepEqual(JSON.parse(await policy('--longest', '90', '--json')), {
    shop: Number(shop),
    keyDefaultDays: null,
    keyMaxDays: 90,
  });
  assert.equal(await daysOf(), 90);
  assert.equal(
    await policy('--default', '30'),
    `New keys of shop ${shop} are valid for 30 days by default, at most 90 days.\n`,
  );
  assert.equal(await daysOf(), 30);
  assert.equal(await daysOf('--expires-in', '90d'), 90);
  const { code, err } = await run([...create, '--expires-in', '91d'], { env });
  assert.equal(code, 1);
  assert.match(err, /are valid for at most 90 days; give --expires-in 90d or less\./);
  const shorter = ['shops', 'key-policy', '--id', shop, '--longest', '7'];
  const refused = await run(shorter, { env });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /valid for 30 days by default, but for 7 days at most/);
  assert.match(await policy(), /for 30 days by default, at most 90 days/);
  await policy('--longest', 'none', '--default', 'none');
  assert.equal(await daysOf(), null);
  const wrong = await run(['shops', 'key-policy', '--id', shop, '--default', '0'], { env });
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /--default must be none, or a whole number of days from 1 to 3650/);
});
