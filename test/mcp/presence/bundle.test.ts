import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { operations } from '../../../src/operations/index.ts';
import { version } from '../../../src/version.ts';
import { runProcess } from '../../cli/process.ts';
import { plan } from '../../rest/records.ts';
import { freePort } from '../../support/postgres.ts';
import {
  createShop,
  createTestKey,
  importAll,
  openAnyStore,
  startWorld,
  type World,
} from '../../support/world.ts';
import { type Unpacked, unpackBundle } from './bundle.ts';

const skip = spawnSync('python3', ['--version']).status !== 0 && 'python3 is not installed';

describe('the bundle for desktop programs', { skip }, () => {
  let world: World;
  let bundle: Unpacked;
  const use = async (
    mode: VersionNegotiationMode,
    entered: Readonly<Record<string, string>>,
    work: (client: Client) => Promise<void>,
  ) => {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ ...bundle.start(entered), stderr: 'ignore' }));
    try {
      await work(client);
    } finally {
      await client.close();
    }
  };
  /** What its program answers to these lines, and how it ends. */
  const send = async (entered: Readonly<Record<string, string>>, lines: readonly string[]) => {
    const { command, args, env } = bundle.start(entered);
    const input = lines.map((line) => `${line}\n`).join('');
    const ended = await runProcess(args, { through: [command], env, input });
    return { ...ended, answers: ended.out.split('\n').filter(Boolean) };
  };
  const list = '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}';

  before(async () => {
    world = await startWorld(openAnyStore());
    assert.deepEqual((await importAll(world.store, world.shop, [plan()])).refused, []);
    bundle = await unpackBundle(world.service.baseUrl);
  });
  after(() => world.close());

  test('asks for the key as a secret, and knows its service', () => {
    const { manifest, folder } = bundle;
    assert.equal(manifest.version, version);
    assert.equal(manifest.user_config['api_key']?.sensitive, true);
    assert.equal(manifest.user_config['api_key']?.default, undefined);
    assert.equal(manifest.user_config['url']?.default, world.service.baseUrl);
    const [, signature] =
      readFileSync(path.join(folder, 'icon.png'), 'latin1').match(/^.(PNG)/) ?? [];
    assert.equal(signature, 'PNG');
    assert.deepEqual(readdirSync(folder).toSorted(), [
      'icon.png',
      'manifest.json',
      'package.json',
      'retention.mcpb',
      'server',
    ]);
  });

  for (const [mode, revision] of [
    ['legacy', '2025-06-18'],
    ['auto', '2026-07-28'],
  ] as const) {
    test(`lists and calls tools in ${revision}`, () =>
      use(mode, { api_key: world.key }, async (client) => {
        assert.equal(client.getNegotiatedProtocolVersion(), revision);
        const { tools } = await client.listTools();
        assert.deepEqual(
          tools.map(({ name }) => name),
          operations.map(({ tool }) => tool),
        );
        const { structuredContent } = await client.callTool({ name: 'list_plans', arguments: {} });
        assert.equal((structuredContent as { plans: object[] }).plans.length, 1);
        await assert.rejects(
          client.callTool({ name: 'naïve', arguments: {} }),
          /Unknown tool: naïve$/,
        );
      }));
  }

  test('answers a line with a line, keeps ids, and sends no notifications', async () => {
    const limited = await createShop(world.store, { tier: 'growth' });
    const { key } = await createTestKey(world.store, limited.id);
    const { code, answers } = await send({ api_key: key }, [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '',
      list,
      'nonsense',
    ]);
    assert.equal(code, 0);
    const found = answers.map((answer) => answer.slice(0, 45)).toSorted();
    assert.deepEqual(found, [
      '{"jsonrpc":"2.0","id":9007199254740993,"resul',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-3',
    ]);
    const { headers } = await fetch(`${world.base}/plans`, {
      headers: { authorization: `Bearer ${key}` },
    });
    // Two lines and this request.
    assert.equal(headers.get('ratelimit'), '"default";r=57;t=60');
  });

  test('says what is wrong with the key, the limit or the address', async () => {
    const errorOf = async (entered: Readonly<Record<string, string>>) => {
      const { answers, err } = await send(entered, ['{"jsonrpc":"2.0","id":"a","method":"ping"}']);
      assert.doesNotMatch(answers.join() + err, /rtn_/);
      const { id, error } = JSON.parse(answers[0] ?? '');
      assert.deepEqual([id, error.code], ['a', -32000]);
      return error.message;
    };
    assert.equal(
      await errorOf({ api_key: 'rtn_wrong' }),
      'The key is not valid. Enter another one in the settings of the extension.',
    );
    const url = `http://127.0.0.1:${await freePort()}`;
    assert.equal(
      await errorOf({ api_key: 'rtn_wrong', url }),
      `The service at ${url} cannot be reached: ECONNREFUSED`,
    );
    assert.match(
      await errorOf({ api_key: 'rtn_wrong', url: `${world.service.baseUrl}/docs` }),
      /^Not found\.$/,
    );
  });

  test('refuses what is no key, and never repeats one', async () => {
    const echo = createServer((request, response) => {
      response.end(JSON.stringify({ message: `You sent ${request.headers.authorization}` }));
    }).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
    const said = async (entered: Readonly<Record<string, string>>) => {
      const { answers, err } = await send({ url, ...entered }, ['{"jsonrpc":"2.0","id":1}']);
      assert.doesNotMatch(answers.join() + err, new RegExp(world.key));
      return err || JSON.parse(answers[0] ?? '').error.message;
    };
    const halves = [world.key.slice(0, 20), world.key.slice(20)];
    for (const api_key of ['', `${world.key}\n`, halves.join('\n'), halves.join('\u00e9'), ' x']) {
      assert.equal(
        await said({ api_key }),
        'The key is not valid. Enter another one in the settings of the extension.',
        JSON.stringify(api_key),
      );
    }
    assert.equal(await said({ api_key: world.key }), 'You sent Bearer rtn_…');
    const misplaced = `${url}/${world.key}`;
    echo.close();
    echo.closeAllConnections();
    assert.equal(
      await said({ api_key: world.key, url: misplaced }),
      `The service at ${url}/rtn_… cannot be reached: ECONNREFUSED`,
    );
    for (const address of [`https://me:${world.key}@retention.example`, `${url}/?${world.key}`]) {
      assert.equal(
        await said({ api_key: world.key, url: address }),
        'The address of the service must not have a user name, a password, a query or a space\n',
      );
    }
  });

  test('does not send the key over a network without encryption', async () => {
    for (const url of ['http://retention.example', 'ftp://127.0.0.1', 'retention.example', '']) {
      const { code, out, err } = await send({ api_key: world.key, url }, [list]);
      assert.equal(code, 1, url);
      assert.equal(out, '');
      assert.equal(err, 'The address of the service must begin with https://\n');
    }
  });
});
