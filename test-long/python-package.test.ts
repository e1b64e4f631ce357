/* The Python client as it would be published: its types, and its wheel in an empty environment. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { entry, plan, subscription } from '../clients/typescript/test/fake-service.ts';
import { findPython, pythonFolder } from '../test/clients/python.ts';

const execute = promisify(execFile);
const modules = ['mypy', 'pip', 'setuptools', 'wheel', 'venv'];
const python = findPython(...modules) ?? '';
const missing = python === '' && `no Python has all of ${modules.join(', ')}`;

if (missing !== false && process.env['CI']) {
  throw new Error(`${missing}, and in CI no test may be skipped.`);
}

const program = `
import asyncio, json, sys
from retention import AsyncRetention, NotFoundError, Retention, customer_id_of
options = {"base_url": sys.argv[1], "key": "rtn_test"}
retention = Retention(**options)
try:
    retention.get_subscription(404)
except NotFoundError as error:
    status = error.status
print(json.dumps([
    retention.__class__.__module__,
    retention.list_plans(),
    [each["subscriptionId"] for each in retention.list_subscriptions()],
    retention.entitled(1),
    asyncio.run(AsyncRetention(**options).entitled(1)),
    status,
    customer_id_of("cus_NffrFeUfNV2Hib"),
]))
`;

describe('the Python client', { skip: missing }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'retention-python-'));
    // Building writes beside the sources.
    await cp(pythonFolder, path.join(folder, 'source'), { recursive: true });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('has types without an objection of mypy, in strict mode', async () => {
    const cwd = path.join(folder, 'source');
    const { stdout } = await execute(python, ['-m', 'mypy', '--cache-dir=/dev/null'], { cwd });
    assert.match(stdout, /^Success: no issues found in \d+ source files\n$/);
  });

  test('works from its wheel in an empty environment', async () => {
    const pip = (...args: string[]) =>
      execute(python, ['-m', 'pip', ...args, '--no-index', '--no-deps'], { cwd: folder });
    await pip('wheel', '--no-build-isolation', '--wheel-dir', 'dist', './source');
    const [wheel = ''] = await readdir(path.join(folder, 'dist'));
    assert.equal(wheel, 'retention-1.0.0-py3-none-any.whl');
    await execute(python, ['-m', 'venv', '--without-pip', 'empty'], { cwd: folder });
    const inside = path.join(folder, 'empty/bin/python');
    await pip('--python', inside, 'install', path.join('dist', wheel));
    const installed = await readdir(path.join(folder, 'empty/lib')).then(([version = '']) =>
      readdir(path.join(folder, 'empty/lib', version, 'site-packages/retention')),
    );
    assert.ok(installed.includes('py.typed'), String(installed));

    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const bodies: Readonly<Record<string, unknown>> = {
        plans: { plans: [plan] },
        subscriptions: { subscriptions: [subscription], nextCursor: null },
        entitlements: { subscriptions: [entry] },
      };
      const body = bodies[pathname.replace(/^.*\//, '')];
      response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { success: false, message: 'Subscription not found.' }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}`;
    const { stdout } = await execute(inside, ['-I', '-c', program, address], { cwd: folder });
    assert.deepEqual(JSON.parse(stdout), [
      'retention._client',
      [plan],
      [subscription['subscriptionId']],
      true,
      true,
      404,
      4_721_611_223_403_156,
    ]);
    server.close();
  });
});
