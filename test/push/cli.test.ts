import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { insertBatch } from '../../src/store/push/batches.ts';
import { connectAll } from '../../src/store/open.ts';
import { serverUrl } from '../support/databases.ts';
import { executable, newShopId, run, runProcess } from '../cli/process.ts';
import { credentialsKeys } from './world.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const CREDENTIALS_KEY = credentialsKeys[0]?.toString('base64') ?? '';
const env = { DATABASE_URL, CREDENTIALS_KEY, LOG_LEVEL: 'warn' };

describe('ingest', { skip }, () => {
  const shop = newShopId();
  const ingest = (verb: string, ...args: string[]) =>
    run(['ingest', verb, '--shop', shop, ...args], { env });
  const parse = async (verb: string, ...args: string[]) => {
    const { code, out, err } = await ingest(verb, ...args, '--json');
    assert.equal(code, 0, err);
    return JSON.parse(out);
  };
  before(async () => {
    const args = ['shops', 'create', '--id', shop, '--name', 'Shop', '--currency', 'USD'];
    assert.equal((await run(args, { env })).code, 0);
  });

  test('creates, lists, rotates and revokes sources', async () => {
    const created = await parse('create', '--name', 'Own backend');
    assert.deepEqual(Object.keys(created), ['sourceId', 'secret']);
    assert.match(created.sourceId, /^src_[0-9a-f]{24}$/);
    assert.match(created.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const [listed] = await parse('list');
    assert.equal(listed.sourceId, created.sourceId);
    assert.equal(listed.name, 'Own backend');
    assert.equal(listed.createdBy, 'command line');
    assert.ok(!JSON.stringify(listed).includes('ecret'));

    const rotated = await ingest('rotate', created.sourceId, '--overlap', '2h');
    const [sourceId, secret, ...rest] = rotated.out.trimEnd().split('\n');
    assert.deepEqual([sourceId, rest], [created.sourceId, []]);
    assert.match(secret ?? '', /^whsec_/);
    assert.notEqual(secret, created.secret);
    assert.match((await ingest('list')).out, /active, old secret until 20/);

    const refused = await ingest('rotate', created.sourceId);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /is accepted until 20\S+Z, and another rotation ends that at once/);
    assert.match((await ingest('rotate', created.sourceId, '--end-earlier')).out, /whsec_/);

    const { out } = await ingest('revoke', created.sourceId);
    assert.equal(out, `Source ${created.sourceId} is revoked.\n`);
    assert.match((await ingest('list')).out, /revoked 20/);
    const again = await ingest('rotate', created.sourceId);
    assert.equal(again.code, 1);
    assert.match(again.err, /has no source src_\w+ that is in use/);
  });

  test('lists how many records were refused lately, and the last reason', async () => {
    const { sourceId } = await parse('create', '--name', 'Refused');
    const store = connectAll(DATABASE_URL);
    const receivedAt = new Date(Date.now() - 86_400_000);
    const key = { shopId: Number(shop), sourceId, batchId: randomUUID() };
    const reason = 'outcome must be one of saved, cancelled, abandoned';
    const refused = JSON.stringify([{ line: 1, reason }]);
    const batch = { ...key, digest: '', receivedAt, lines: '', outcomes: '{}', refused };
    assert.ok(await insertBatch(store.write, batch));
    await store.write`
      update ingest.batches set refused_count = 7, finished_at = received_at
      where shop_id = ${key.shopId} and source_id = ${sourceId}`;
    await store.close();
    const listed = (await parse('list')).find(
      (each: object) => 'name' in each && each.name === 'Refused',
    );
    assert.deepEqual(
      [listed.refusedRecords, listed.lastRefusedAt, listed.lastRefusedReason],
      [7, receivedAt.toISOString(), reason],
    );
    const { out } = await ingest('list');
    assert.match(out, new RegExp(`${sourceId} +Refused +standard .* 7 +active`));
    assert.ok(
      out.endsWith(`${sourceId} was last refused at ${receivedAt.toISOString()}: ${reason}\n`),
    );
  });

  test('changes nothing if the secret cannot be shown', async () => {
    const { sourceId } = await parse('create', '--name', 'Seen');
    const listed = await parse('list');
    const through: [string, ...string[]] = ['sh', '-c', 'exec "$0" "$@" >/dev/full', executable];
    for (const [verb, ...args] of [
      ['create', '--name', 'Lost'],
      ['create', '--name', 'Lost', '--json'],
      ['rotate', sourceId],
    ]) {
      const command = ['ingest', verb as string, '--shop', shop, ...args];
      const { code, err } = await runProcess(command, { env, through });
      assert.equal(code, 1);
      assert.match(
        err,
        /^retention: Standard output cannot be written, so the secret would be lost, and nothing was changed: ENOSPC.*\n$/,
      );
    }
    assert.deepEqual(await parse('list'), listed);
  });

  test('reads the secrets of vendors from standard input', async () => {
    const args = ['ingest', 'create', '--shop', shop, '--name', 'Churnkey', '--json'];
    const created = await run([...args, '--scheme', 'churnkey'], {
      env,
      input: 'made-up-secret\n',
    });
    assert.equal(created.code, 0, created.err);
    const { sourceId, ...rest } = JSON.parse(created.out);
    assert.deepEqual(rest, {});
    const listed = await parse('list');
    const find = (each: { sourceId: string }) => each.sourceId === sourceId;
    assert.equal(listed.find(find).scheme, 'churnkey');
    const rotation = ['ingest', 'rotate', '--shop', shop, sourceId];
    const rotated = await run(rotation, { env, input: 'another-secret' });
    assert.equal(rotated.out, `${sourceId}\n`);
    const empty = await run(rotation, { env });
    assert.deepEqual([empty.code, empty.out], [2, '']);
    const unknown = await run([...args, '--scheme', 'raaft'], { env, input: 'made-up-secret' });
    assert.match(
      unknown.err,
      /--scheme takes one of stripe, paddle, churnkey, chargebee-retention/,
    );
  });

  test('says what is missing', async () => {
    const cases: [number, RegExp, Promise<{ code: number | null; err: string }>][] = [
      [2, /--name is missing/, ingest('create')],
      [2, /at most 80 characters/, ingest('create', '--name', 'x'.repeat(81))],
      [2, /--overlap takes/, ingest('rotate', 'src_1', '--overlap', '5m')],
      [1, /has no source src_1/, ingest('revoke', 'src_1')],
    ];
    for (const [status, reason, ended] of cases) {
      const { code, err } = await ended;
      assert.match(err, reason);
      assert.equal(code, status);
    }
  });
});
