/* The TypeScript client as npm would publish it. Needs a registry, as npm ci does. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { entry, plan, subscription } from '../clients/typescript/test/fake-service.ts';

const client = path.join(import.meta.dirname, '../clients/typescript');
const execute = promisify(execFile);

/** The checkers, and the oldest Node.js that the client supports up to the newest, from npm. */
const tools = {
  publint: 'publint@0.3.25',
  types: '@arethetypeswrong/cli@0.18.5',
  nodes: ['20.20.2', '22.23.3', '24.21.0', '26.10.0'],
} as const;

const program = `
import { Retention, RetentionError, customerIdOf } from '@retention/client';
const retention = new Retention({ baseUrl: process.argv[2], key: 'rtn_test' });
const plans = await retention.listPlans();
const ids = [];
for await (const { subscriptionId } of retention.listSubscriptions()) ids.push(subscriptionId);
const failure = await retention.getSubscription(404).catch((error) => error);
console.log(JSON.stringify([
  plans, ids, await retention.entitled(1), failure instanceof RetentionError, failure.status, customerIdOf('cus_NffrFeUfNV2Hib'),
]));
`;

describe('the TypeScript client, packed and installed', () => {
  let folder: string;
  let packed: string;
  const npm = (args: readonly string[], cwd = folder) =>
    execute('npm', [...args], { cwd, maxBuffer: 2 ** 26 });
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'retention-client-'));
    const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], client);
    const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
    packed = path.join(folder, filename);
    const names: string[] = files.map((file: { path: string }) => file.path);
    assert.ok(names.includes('dist/index.js') && names.includes('README.md'), String(names));
    assert.deepEqual(
      names.filter(
        (name) => !/^(dist\/[\w-]+\.(js|d\.ts)|README\.md|LICENSE|package\.json)$/.test(name),
      ),
      [],
    );
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module", "private": true }');
    await npm(['install', '--no-audit', '--no-fund', packed]);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('brings nothing else', async () => {
    const { stdout } = await npm(['ls', '--all', '--json']);
    const { dependencies } = JSON.parse(stdout);
    assert.deepEqual(Object.keys(dependencies), ['@retention/client']);
    assert.equal(dependencies['@retention/client'].dependencies, undefined);
  });

  for (const version of tools.nodes) {
    test(`works on Node.js ${version}`, async (t) => {
      const server = createServer((request, response) => {
        const { pathname } = new URL(request.url ?? '', 'http://localhost');
        const bodies: Readonly<Record<string, unknown>> = {
          plans: { plans: [plan] },
          subscriptions: { subscriptions: [subscription], nextCursor: null },
          entitlements: { subscriptions: [entry] },
        };
        const body = bodies[pathname.replace(/^.*\//, '')];
        response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify(body ?? { success: false, message: 'Subscription not found.' }),
        );
      }).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      await writeFile(path.join(folder, 'program.js'), program);
      // The package `node` fetches this one by an install script, which npm may be told not to run.
      const nodePackage = `node-${process.platform}-${process.arch}@${version}`;
      const args = ['exec', '--yes', `--package=${nodePackage}`, '--'];
      const { stdout } = await npm([...args, 'node', 'program.js', `http://127.0.0.1:${port}`]);
      assert.deepEqual(JSON.parse(stdout), [
        [plan],
        [subscription['subscriptionId']],
        true,
        true,
        404,
        4721611223403156,
      ]);
      const { stdout: used } = await npm([...args, 'node', '--version']);
      assert.equal(used.trim(), `v${version}`);
    });
  }

  test('is found well made by publint and by arethetypeswrong', async () => {
    await npm(['exec', '--yes', tools.publint, '--', packed, '--strict']);
    // The package has no form for require(), which Node.js can do with modules since version 20.19.
    await npm(['exec', '--yes', tools.types, '--', packed, '--profile', 'esm-only']);
  });
});
