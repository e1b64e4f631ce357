import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import {
  executable,
  launch,
  migratedFolder,
  type RunOptions,
  runProcess,
} from '../test/cli/process.ts';
import { get } from '../test/support/world.ts';
import { createShopWithKey } from '../test/lifecycle/shop-with-key.ts';

const importing = ['import', '--shop', '1', '--json', '-'];

/** More than fits into the current file of the write-ahead log. */
async function manyRecords(): Promise<string> {
  const { code, out } = await runProcess(['demo-data', '--subscriptions', '4000']);
  assert.equal(code, 0);
  return out;
}

function plan(id: number): string {
  return `{"type":"plan","id":${id},"name":"Plan ${id}","planType":"other","intervalUnit":"month","intervalCount":1}\n`;
}

async function serve(env: Readonly<Record<string, string>>, through: RunOptions['through']) {
  const server = launch(['serve'], { env: { PORT: '0', ...env }, ...(through && { through }) });
  const [, baseUrl = ''] = await server.said(/listens on (\S+)\n/);
  const listPlans = async (key: string) => {
    const { status, body } = await get(`${baseUrl}/api/external/v1/plans`, key);
    return { status, ids: (body.plans as { id: number }[] | undefined)?.map(({ id }) => id) };
  };
  return { ...server, listPlans };
}

// A limit on file sizes, just below that of a log file, needs no privileges and no small disk. The database
// cannot foresee it, nor a quota.
const limited = [
  'bash',
  '-c',
  `trap '' XFSZ; ulimit -f 16000; exec "$0" "$@"`,
  executable,
] as const;

test('a server whose log cannot grow exits with 1 and the reason, and so does the import', async (t) => {
  const env = { RETENTION_DATA_DIR: migratedFolder() };
  const key = await createShopWithKey(env, 'read:plans');
  const input = await manyRecords();

  const server = await serve(env, limited);
  const imported = await runProcess(importing, { env, input });
  assert.deepEqual([imported.code, imported.out], [1, '']);
  const { code, signal, err } = await server.ended;
  assert.deepEqual([code, signal], [1, null]);
  const reason = /^retention: The embedded database stopped: PANIC: .*File too large$/m;
  assert.match(err, reason);

  await t.test('an import that runs the database itself exits in the same way', async () => {
    const other = { RETENTION_DATA_DIR: migratedFolder() };
    await createShopWithKey(other, 'read:plans');
    const alone = await runProcess(importing, { env: other, input, through: limited });
    assert.deepEqual([alone.code, alone.out], [1, '']);
    assert.match(alone.err, reason);
  });

  await t.test('a server started in this state explains why it cannot run', async () => {
    const again = await runProcess(['serve'], { env: { ...env, PORT: '0' }, through: limited });
    assert.deepEqual([again.code, again.out], [1, '']);
    assert.match(again.err, /^retention: Cannot open the database in .*File too large$/ms);
  });

  await t.test('recovers afterwards, with everything that was committed', async () => {
    const recovered = await serve(env, undefined);
    assert.equal((await recovered.listPlans(key)).status, 200);
    assert.equal((await runProcess(importing, { env, input: plan(1) })).code, 0);
    assert.ok((await recovered.listPlans(key)).ids?.includes(1));
    recovered.child.kill('SIGTERM');
    assert.equal((await recovered.ended).code, 0);
  });
});

// With separate namespaces, any user may mount.
const namespaces = ['unshare', '--map-root-user', '--mount'] as const;
const [program, ...args] = namespaces;
const canMount =
  spawnSync(program, [...args, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
// If skipped, disk-space.test.ts covers the rejected writes, and the test above the exit.
const skip = !canMount && 'this system does not allow tests to mount a file system';

test(
  'with a full disk the server reads, rejects writes, starts, and writes again later',
  { skip },
  async (t) => {
    const folder = migratedFolder();
    const env = { RETENTION_DATA_DIR: folder };
    const key = await createShopWithKey(env, 'read:plans');
    assert.equal((await runProcess(importing, { env, input: plan(1) })).code, 0);
    const input = await manyRecords();

    const mount =
      'cp -a "$0" "$0.copy"; mount -t tmpfs -o size=200m tmpfs "$0"; cp -a "$0.copy/." "$0"';
    const disk = launch([folder], {
      through: [...namespaces, 'bash', '-ec', `${mount}; echo mounted; exec sleep infinity`],
    });
    await disk.said(/mounted/);
    const inside = [
      'nsenter',
      '--target',
      String(disk.child.pid),
      '--user',
      '--mount',
      '--preserve-credentials',
    ] as const;
    const onDisk = [...inside, executable] as const;
    const onDiskRun = (command: readonly string[], text = '') =>
      runProcess(command, { env, input: text, through: onDisk });
    const shell = async (text: string) => {
      const { code, err } = await runProcess([text, folder], {
        through: [...inside, 'bash', '-c'],
      });
      assert.equal(code, 0, err);
    };
    const full =
      /^retention: The database has no space left: The disk is almost full: \d+ MB are free in .* 0 records were imported, .*$/m;

    let server = await serve(env, onDisk);
    assert.equal((await onDiskRun(importing, plan(2))).code, 0);
    // Less than another log file needs, more than the records need.
    await shell('head -c $(($(stat -fc %a*%S "$0") - 12000000)) /dev/zero > "$0/ballast"');

    await t.test(
      'an import exits with 1 and the reason; requests and commands that read still work',
      async () => {
        const refused = await onDiskRun(importing, input);
        assert.deepEqual([refused.code, refused.out], [1, '']);
        assert.match(refused.err, full);
        assert.deepEqual(await server.listPlans(key), { status: 200, ids: [1, 2] });
        const listed = await onDiskRun(['keys', 'list', '--shop', '1']);
        assert.equal(listed.code, 0, listed.err);
      },
    );

    await t.test('with no byte left, the server stops with 0 and starts again', async () => {
      await shell('cat /dev/zero > "$0/more" 2>/dev/null; [ $(stat -fc %a "$0") = 0 ]');
      assert.deepEqual(await server.listPlans(key), { status: 200, ids: [1, 2] });
      server.child.kill('SIGTERM');
      const { code, err } = await server.ended;
      assert.equal(code, 0, err);
      server = await serve(env, onDisk);
      assert.deepEqual(await server.listPlans(key), { status: 200, ids: [1, 2] });
    });

    await t.test('with free space again, it writes without a restart', async () => {
      await shell('rm "$0/more" "$0/ballast"');
      const imported = await onDiskRun(importing, plan(3));
      assert.equal(imported.code, 0, imported.err);
      assert.deepEqual(await server.listPlans(key), { status: 200, ids: [1, 2, 3] });
      server.child.kill('SIGTERM');
      assert.equal((await server.ended).code, 0);
    });
  },
);
