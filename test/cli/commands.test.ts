import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openClient } from '../support/client.ts';
import { isWellFormedKey } from '../../src/access/keys/key-format.ts';
import { executable, newShopId, root, run, runProcess, throwawayFolder } from './process.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL, LOG_LEVEL: 'warn' };

/** Runs a command that must succeed, and returns its standard output. */
async function runOk(...args: string[]): Promise<string> {
  const { code, out, err } = await run(args, { env });
  assert.equal(code, 0, err);
  return out;
}

async function createShop(): Promise<string> {
  const id = newShopId();
  await runOk('shops', 'create', '--id', id, '--name', 'Shop', '--currency', 'USD');
  return id;
}

function makeDemoData(seed: string): Promise<string> {
  const until = ['--until', '2026-11-20T12:00:00Z'];
  return runOk('demo-data', '--subscriptions', '20', '--seed', seed, ...until);
}

/** Records of all types with one outcome, such as "stored". */
function total(kind: string, counts: Record<string, Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + (each[kind] ?? 0), 0);
}

describe('the command line', { skip, concurrency: 2 }, () => {
  test('creates and lists shops, and changes their tier', async () => {
    const id = newShopId();
    const create = ['shops', 'create', '--id', id, '--name', 'Kaffee & Co', '--currency', 'jpy'];
    const created = JSON.parse(await runOk(...create, '--json'));
    const { createdAt, ...rest } = created;
    const shop = { id: Number(id), name: 'Kaffee & Co', tier: 'growth', currency: 'JPY' };
    assert.deepEqual(rest, shop);
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

    const again = await run(create, { env });
    assert.deepEqual(
      [again.code, again.out, again.err],
      [1, '', `retention: Shop ${id} already exists.\n`],
    );

    assert.equal(await runOk('shops', 'set-tier', id, 'pro'), `Shop ${id} is now pro.\n`);
    const listed = JSON.parse(await runOk('shops', 'list', '--json'));
    const found = listed.filter((each: { id: number }) => each.id === Number(id));
    assert.deepEqual(found, [{ ...shop, tier: 'pro', createdAt, keepMonths: null }]);
    const table = await runOk('shops', 'list');
    assert.match(table, /^ID +NAME +TIER +CURRENCY +CREATED\n/);
    assert.match(table, new RegExp(`^${id} +Kaffee & Co +pro +JPY +${createdAt}$`, 'm'));

    const unknown = await run(['shops', 'set-tier', '9007199254740991', 'pro'], { env });
    assert.deepEqual(
      [unknown.code, unknown.out, unknown.err],
      [
        1,
        '',
        'retention: There is no shop 9007199254740991; "retention shops create" creates one.\n',
      ],
    );
  });

  test('creates, lists and revokes keys', async () => {
    const id = await createShop();
    const create = ['keys', 'create', '--shop', id, '--name', 'My key', '--scopes'];
    const made = JSON.parse(
      await runOk(...create, ' read:plans,read:metrics,read:plans', '--json'),
    );
    assert.deepEqual(Object.keys(made), ['id', 'key', 'name', 'scopes', 'networks', 'expiresAt']);
    assert.match(made.id, /^key_[0-9a-f]{16}$/);
    assert.equal(isWellFormedKey(made.key), true);
    assert.equal(made.name, 'My key');
    assert.deepEqual(made.scopes, ['read:plans', 'read:metrics']);
    assert.equal(made.expiresAt, null);

    const plain = await run([...create, 'read:plans'], { env });
    assert.equal(plain.code, 0);
    assert.equal(isWellFormedKey(plain.out.trimEnd()), true);
    assert.match(plain.err, /^This is key key_[0-9a-f]{16}\. Copy it now: /);
    assert.doesNotMatch(plain.err, /rtn_/);

    const revoked = await run(['keys', 'revoke', '--shop', id, made.id], {
      env: { ...env, LOG_LEVEL: 'info' },
    });
    assert.deepEqual([revoked.code, revoked.out], [0, `Key ${made.id} is revoked.\n`]);
    const { keyId, cause, msg } = JSON.parse(revoked.err);
    assert.deepEqual([keyId, cause, msg], [made.id, 'command line', 'key revoked']);
    const text = await runOk('keys', 'list', '--shop', id, '--json');
    assert.doesNotMatch(text, /rtn_/);
    const [first, second, ...others] = JSON.parse(text);
    assert.deepEqual(others, []);
    const { createdAt, revokedAt, ...rest } = first;
    assert.deepEqual(rest, {
      id: made.id,
      name: 'My key',
      lastFour: made.key.slice(-4),
      scopes: ['read:plans', 'read:metrics'],
      networks: [],
      createdBy: 'command line',
      lastUsedAt: null,
      expiresAt: null,
      replacedBy: null,
    });
    assert.ok(createdAt < revokedAt);
    assert.equal(second.revokedAt, null);
    const table = await runOk('keys', 'list', '--shop', id);
    assert.match(table, new RegExp(`^${made.id} .*read:plans,read:metrics .* revoked `, 'm'));
    assert.match(table, new RegExp(`^${second.id} .* never +active$`, 'm'));

    const other = await createShop();
    const foreign = await run(['keys', 'revoke', '--shop', other, second.id], { env });
    assert.deepEqual(
      [foreign.code, foreign.out, foreign.err],
      [
        1,
        '',
        `retention: Shop ${other} has no key ${second.id}; "retention keys list" lists its keys.\n`,
      ],
    );
  });

  for (const tier of ['free', 'starter']) {
    test(`creates no key on the ${tier} tier, and says how to change the tier`, async () => {
      const id = newShopId();
      const shop = ['--id', id, '--name', 'x', '--currency', 'USD', '--tier', tier];
      await runOk('shops', 'create', ...shop);
      const args = ['keys', 'create', '--shop', id, '--name', 'x', '--scopes', 'read:plans'];
      const { code, out, err } = await run([...args, '--json'], { env });
      const says =
        `retention: Shop ${id} is on the ${tier} tier, which has no API access, so nothing was changed. ` +
        `Change the tier first: "retention shops set-tier ${id} growth".\n`;
      assert.deepEqual([code, out, err], [1, '', says]);
      const keys = await runOk('keys', 'list', '--shop', id, '--json');
      assert.equal(keys, '[]\n');

      await runOk('shops', 'set-tier', id, 'growth');
      assert.match(await runOk(...args), /^rtn_/);
    });
  }

  test('escapes control characters in names, except with --json', async () => {
    const id = newShopId();
    const name = '\x1b[2J\u202eevil\n7  forged';
    const shown = '\\u001b[2J\\u202eevil\\n7  forged';
    const shop = ['--id', id, '--name', name, '--currency', 'USD'];
    assert.equal(
      await runOk('shops', 'create', ...shop),
      `Created shop ${id} (${shown}): growth, USD.\n`,
    );
    const shops = await runOk('shops', 'list');
    // Names of other tests' shops may be longer.
    assert.match(shops, new RegExp(`  ${RegExp.escape(shown)} +growth`));
    const json = await runOk('shops', 'list', '--json');
    assert.equal(json, `${JSON.stringify(JSON.parse(json))}\n`);
    assert.ok(JSON.parse(json).some((each: { name: string }) => each.name === name));

    await runOk('keys', 'create', '--shop', id, '--name', name, '--scopes', 'read:plans');
    const keys = await runOk('keys', 'list', '--shop', id);
    assert.equal(keys.split('\n').length, 3);
    assert.ok(keys.includes(`  ${shown}  read:plans  `), keys);

    const refused = await run(['shops', 'set-tier', id, name], { env });
    assert.match(refused.err, /, not "\\u001b\[2J\\u202eevil$/m);
  });

  test('names a shop that does not exist, and says how to create it', async () => {
    const args = ['--shop', '9007199254740991'];
    const says =
      'retention: There is no shop 9007199254740991; "retention shops create" creates one.\n';
    const { code, out, err } = await run(['keys', 'list', ...args], { env });
    assert.deepEqual([code, out, err], [1, '', says]);
  });

  test('demo-data prints the same records for the same --seed and --until, importable twice', async () => {
    const [records, same, others] = await Promise.all([
      makeDemoData('7'),
      makeDemoData('7'),
      makeDemoData('8'),
    ]);
    assert.equal(records, same);
    assert.notEqual(records, others);

    const id = await createShop();
    const input = { env, input: records };
    const first = await run(['import', '--shop', id, '--json', '-'], input);
    assert.equal(first.code, 0, first.err);
    const { shop, counts } = JSON.parse(first.out);
    assert.equal(shop, Number(id));
    const lines = records.trimEnd().split('\n').length;
    assert.equal(total('stored', counts), lines);

    const second = await run(['import', '--shop', id, '--json', '-'], input);
    assert.equal(second.code, 0, second.err);
    assert.equal(total('unchanged', JSON.parse(second.out).counts), lines);
  });

  test('import exits with 3 if lines are refused, and says which and where they are saved', async () => {
    const folder = throwawayFolder();
    const id = await createShop();
    const plan = `{"type":"plan","id":1,"name":"P","planType":"other","intervalUnit":"month","intervalCount":1}`;
    writeFileSync(path.join(folder, 'r.ndjson'), `${plan}\n{"type":"nonsense"}\n`);
    const args = ['import', '--shop', id, '--json', 'r.ndjson'];
    const { code, out, err } = await run(args, { env, cwd: folder });
    assert.equal(code, 3, err);
    assert.match(err, /^r\.ndjson:2: /);
    assert.match(err, /r\.ndjson\.refused\.ndjson\.\n$/);
    assert.equal(JSON.parse(out).counts.plan.stored, 1);
    assert.equal(existsSync(path.join(folder, 'r.ndjson.refused.ndjson')), true);

    const missing = await run(['import', '--shop', id, 'none.ndjson'], { env, cwd: folder });
    assert.equal(missing.code, 1);
    assert.match(missing.err, /none\.ndjson/);
    assert.doesNotMatch(missing.err, /^ {4}at /m);
  });

  test('demo-data exits silently when its reader closes the pipe', async () => {
    const script = '"$0" demo-data --subscriptions 3000 2>err | head -1; cat err';
    const folder = throwawayFolder();
    const through: [string, ...string[]] = ['sh', '-c', script];
    const args = [path.join(root, 'bin', 'retention')];
    const { out, code } = await runProcess(args, { through, cwd: folder });
    assert.equal(code, 0);
    assert.match(out, /^\{"type":"plan","id":11,[^\n]*\}\n$/);
  });

  test('finishes when stdout is closed (EPIPE)', async () => {
    const id = newShopId();
    const args = ['shops', 'create', '--id', id, '--name', 'x', '--currency', 'USD'];
    const child = spawn(path.join(root, 'bin', 'retention'), args, {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let err = '';
    child.stderr.on('data', (text) => (err += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([code, err], [0, '']);
    assert.match(await runOk('shops', 'list'), new RegExp(`^${id} `, 'm'));
  });

  test('creates no key that cannot be shown', async () => {
    const id = await createShop();
    const args = ['keys', 'create', '--shop', id, '--name', 'x', '--scopes', 'read:plans'];
    const through: [string, ...string[]] = ['sh', '-c', 'exec "$0" "$@" >/dev/full', executable];
    const { code, err } = await runProcess(args, { env, through });
    assert.equal(code, 1);
    assert.match(err, /^retention: Standard output cannot be written, .* nothing was changed: /);
    assert.deepEqual(JSON.parse(await runOk('keys', 'list', '--shop', id, '--json')), []);
  });

  test('runs from any folder, and through a symbolic link', async () => {
    const folder = path.join(throwawayFolder(), 'with space');
    mkdirSync(folder);
    const link = path.join(folder, 'retention');
    symlinkSync(path.join(root, 'bin', 'retention'), link);
    const { code, out, err } = await runProcess(['shops', 'list'], {
      env,
      cwd: folder,
      through: [link],
    });
    assert.equal(code, 0, err);
    assert.match(out, /^ID /);
    // With DATABASE_URL, no data folder is created in the current folder.
    assert.equal(existsSync(path.join(folder, '.retention')), false);
  });

  test('migrate applies each migration once when three run at the same time', async () => {
    const name = `cli_${newShopId()}`;
    const sql = openClient(DATABASE_URL);
    try {
      await sql.unsafe(`create database ${name}`);
      const options = { env: { ...env, DATABASE_URL: DATABASE_URL.replace(/[^/]+$/, name) } };
      const before = await run(['doctor', '--json'], options);
      assert.equal(before.code, 1);
      const schema = JSON.parse(before.out).findings.find(
        ({ check }: { check: string }) => check === 'schema',
      );
      assert.match(schema.detail, /^missing 0049_first_version\.sql.*; run "retention migrate"$/);

      const ended = await Promise.all([1, 2, 3].map(() => run(['migrate'], options)));
      assert.deepEqual(
        ended.map(({ code, err }) => [code, err]),
        [0, 0, 0].map((code) => [code, '']),
      );
      const said = ended.map(({ out }) => out).join('');
      assert.equal(said.match(/0049_first_version\.sql/g)?.length, 1, said);
      assert.equal((await run(['migrate'], options)).out, 'The schema is up to date.\n');
    } finally {
      await sql.unsafe(`drop database if exists ${name} with (force)`);
      await sql.end();
    }
  });

  test('says which version upgrades a database that is too old', async () => {
    const name = `cli_${newShopId()}`;
    const sql = openClient(DATABASE_URL);
    try {
      await sql.unsafe(`create database ${name}`);
      const url = DATABASE_URL.replace(/[^/]+$/, name);
      const old = openClient(url);
      await old.script(
        'create table schema_migrations (version integer primary key); insert into schema_migrations values (44)',
      );
      await old.end();
      const options = { env: { ...env, DATABASE_URL: url, PORT: '0' } };
      const sentence =
        'The database is older than version 1.0.0 of the service: start that version on it first, then this one.';
      for (const [args, start] of [
        [['migrate'], run],
        [['shops', 'list'], run],
        [['serve'], runProcess],
      ] as const) {
        const { code, out, err } = await start(args, options);
        assert.deepEqual([args, code, out], [args, 1, '']);
        assert.match(err, new RegExp(`^retention: ${sentence.replaceAll('.', '\\.')}$`, 'm'));
      }
      const doctor = await run(['doctor'], options);
      assert.equal(doctor.code, 1);
      assert.match(doctor.out, /^ok {4}database: /m);
      assert.ok(doctor.out.includes(`FAIL  schema: ${sentence}\n`), doctor.out);
    } finally {
      await sql.unsafe(`drop database if exists ${name} with (force)`);
      await sql.end();
    }
  });
});
