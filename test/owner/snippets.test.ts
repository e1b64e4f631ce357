import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { plan, subscription } from '../rest/records.ts';
import { oldestNode } from '../support/oldest-node.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, importAll, startWorld } from '../support/world.ts';
import { codeBlocks, unescape } from './code-blocks.ts';
import { type Visitor, signedInOwner, keyIdIn } from './visitor.ts';

const run = promisify(execFile);

interface Runner {
  readonly program: string;
  readonly args?: readonly string[];
  /** Of the files that the code is saved in; each has to work. */
  readonly extensions: readonly string[];
}

const runners: Readonly<Record<string, Runner>> = {
  sh: { program: 'sh', extensions: ['sh'] },
  js: { program: oldestNode(), extensions: ['cjs', 'mjs'] },
  python: { program: 'python3', extensions: ['py'] },
  ruby: { program: 'ruby', extensions: ['rb'] },
  php: { program: 'php', extensions: ['php'] },
  go: { program: 'go', args: ['run'], extensions: ['go'] },
};

function missing(program: string): string | false {
  const version = program === 'go' ? 'version' : '--version';
  const isHere = program === 'sh' || spawnSync(program, [version]).status === 0;
  return !isHere && `${program} is not available on this machine`;
}

onOneDatabase('the snippets for developers', (open) => {
  let world: World;
  let folder: string;
  let visitor: Visitor;
  /** The page that created a key, and the key. */
  let created: { readonly text: string; readonly key: string };
  let start: string;

  before(async () => {
    world = await startWorld(open());
    folder = await mkdtemp(path.join(tmpdir(), 'retention-snippets-'));
    const { refused } = await importAll(world.store, world.shop, [plan(), subscription(1002)]);
    assert.deepEqual(refused, []);
    ({ visitor } = await signedInOwner(world));
    const home = `/app/shops/${world.shop.id}`;
    const { text: form } = await visitor.get(`${home}/keys/new`);
    const id = keyIdIn({ text: form });
    const fields = { id, name: 'Till', scope: 'read:entitlements' };
    const { text } = await visitor.post(`${home}/keys`, fields);
    created = { text, key: codeBlocks(text).get('key') ?? '' };
    start = (await visitor.get(`${home}/developers`)).text;
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await world.close();
  });

  for (const [name, { program, args = [], extensions }] of Object.entries(runners)) {
    const skip = missing(program);

    test(
      `${name}: gets an answer, with the new key and with the key in the environment`,
      { skip },
      async () => {
        for (const [page, env] of [
          [created.text, {}],
          [start, { RETENTION_API_KEY: created.key }],
        ] as const) {
          const code = codeBlocks(page).get(`snippet-${name}`) ?? '';
          for (const extension of extensions) {
            const file = path.join(folder, `${name}.${extension}`);
            await writeFile(file, code);
            const { stdout } = await run(program, [...args, file], {
              env: { PATH: process.env['PATH'], HOME: folder, ...env },
            });
            assert.match(stdout, /subscriptionId\W+1002\b/, code);
          }
        }
      },
    );
  }

  test('have the new key on the page that created it only, and ids that exist', async () => {
    const { key } = created;
    assert.match(key, /^rtn_[\w-]{43}$/);
    const url = `${world.base}/entitlements?customerId=501`;
    for (const name of Object.keys(runners)) {
      const [withKey, without] = [created.text, start].map(
        (page) => codeBlocks(page).get(`snippet-${name}`) ?? '',
      ) as [string, string];
      assert.ok(withKey.includes(key) && withKey.includes(url), withKey);
      assert.ok(!withKey.includes('RETENTION_API_KEY'), withKey);
      assert.ok(without.includes('RETENTION_API_KEY') && without.includes(url), without);
    }
    const home = `/app/shops/${world.shop.id}`;
    for (const address of [
      'developers',
      'keys',
      'developers/console',
      'developers/usage',
      'developers/requests',
    ]) {
      const { status, text } = await visitor.get(`${home}/${address}`);
      assert.equal(status, 200);
      assert.doesNotMatch(text, /rtn_/, address);
    }
  });

  test('connect agents; links have the address, but never the key', () => {
    const mcpUrl = `${world.service.baseUrl}/api/mcp`;
    for (const page of [created.text, start]) {
      const links = [
        ...page.matchAll(/href="((?:cursor|vscode|vscode-insiders|lmstudio):[^"]+)"/g),
      ].map(([, link = '']) => unescape(link));
      assert.equal(links.length, 4);
      const [cursor = '', vscode = '', insiders = '', lmStudio = ''] = links;
      const { searchParams, pathname } = new URL(cursor);
      assert.equal(pathname, '/mcp/install');
      assert.equal(searchParams.get('name'), 'retention');
      const server = Buffer.from(searchParams.get('config') ?? '', 'base64').toString('utf8');
      assert.deepEqual(JSON.parse(server), {
        url: mcpUrl,
        headers: { Authorization: 'Bearer ${env:RETENTION_API_KEY}' },
      });
      const { host, searchParams: added } = new URL(lmStudio);
      assert.equal(host, 'add_mcp');
      assert.equal(added.get('name'), 'retention');
      assert.deepEqual(
        JSON.parse(Buffer.from(added.get('config') ?? '', 'base64').toString('utf8')),
        { url: mcpUrl, headers: { Authorization: 'Bearer YOUR_API_KEY' } },
      );
      assert.ok(page.includes('href="/docs/mcp/retention.mcpb"'));
      assert.equal(insiders, vscode.replace('vscode:', 'vscode-insiders:'));
      assert.deepEqual(JSON.parse(decodeURIComponent(vscode.replace('vscode:mcp/install?', ''))), {
        name: 'retention',
        type: 'http',
        url: mcpUrl,
        headers: { Authorization: 'Bearer ${input:retention-key}' },
        inputs: [
          { type: 'promptString', id: 'retention-key', description: 'API key', password: true },
        ],
      });
    }
    const withKey = [...codeBlocks(created.text)].filter(([id]) => id.startsWith('client-'));
    assert.equal(withKey.length, 7);
    for (const [id, code] of withKey) {
      assert.ok(code.includes(mcpUrl), id);
      // VS Code asks for the key, and Codex reads it from the environment.
      assert.equal(
        code.includes(created.key),
        !/retention-key|bearer_token_env_var/.test(code),
        id,
      );
    }
    assert.doesNotMatch(start, /rtn_/);
  });
});
