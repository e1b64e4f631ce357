import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createLog } from '../src/log/log.ts';
import { operations } from '../src/operations/index.ts';
import { root, throwawayFolder } from '../test/cli/process.ts';
import { plan } from '../test/rest/records.ts';
import { importAll, openAnyStore, startWorld, type World } from '../test/support/world.ts';
import { type Tools, installTools } from './install.ts';
import { startStandInModel } from './stand-in-model.ts';

const packages = {
  '@anthropic-ai/claude-code': '2.1.330',
  '@modelcontextprotocol/inspector': '2.12.0',
  'mcp-remote': '0.15.1',
  '@ai-sdk/mcp': '2.0.99',
  ai: '7.0.173',
  '@langchain/mcp-adapters': '1.1.4',
  '@langchain/core': '1.4.0',
  '@openai/agents': '0.20.0',
  '@mastra/mcp': '2.0.0',
};
type Package = keyof typeof packages;

interface Service {
  readonly url: string;
  readonly key: string;
}

/** What a client listed, and what a call of list_plans gave. */
interface Tried {
  readonly tools: readonly string[];
  readonly result: unknown;
}

/** Runs one of the scripts in `clients/`, which use a library. */
function runScript(file: string) {
  return async (tools: Tools, { url, key }: Service): Promise<Tried> => {
    const env = { RETENTION_URL: url, RETENTION_API_KEY: key };
    const said = await tools.run(`clients/${file}`, [], env);
    return JSON.parse(said.slice(said.indexOf('{"tools"')));
  };
}

async function tryInspector(tools: Tools, { url, key }: Service): Promise<Tried> {
  const env = { HOME: throwawayFolder() };
  const call = async (...method: string[]) => {
    const header = ['--transport', 'http', '--header', `Authorization: Bearer ${key}`];
    const args = ['--cli', url, ...header, '--method', ...method];
    const said = await tools.run('mcp-inspector', args, env);
    // Warnings may follow.
    return JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('\n}') + 2));
  };
  const listed = (await call('tools/list')) as { tools: { name: string }[] };
  return {
    tools: listed.tools.map(({ name }) => name),
    result: await call('tools/call', '--tool-name', 'list_plans'),
  };
}

async function tryBridge(tools: Tools, { url, key }: Service): Promise<Tried> {
  const header = ['--header', `Authorization:Bearer ${key}`, '--transport', 'http-only'];
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [tools.scriptOf('mcp-remote'), url, ...header],
      env: { PATH: process.env['PATH'] ?? '', HOME: throwawayFolder() },
      stderr: 'ignore',
    }),
  );
  try {
    const listed = await client.listTools();
    const result = await client.callTool({ name: 'list_plans', arguments: {} });
    return { tools: listed.tools.map(({ name }) => name), result };
  } finally {
    await client.close();
  }
}

async function tryClaudeCode(tools: Tools, { url, key }: Service): Promise<Tried> {
  // The program in .bin needs an install script, this one does not.
  const program = 'node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs';
  const model = await startStandInModel('mcp__retention__list_plans');
  const env = {
    HOME: throwawayFolder(),
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'none',
  };
  try {
    const header = ['--header', `Authorization: Bearer ${key}`];
    const add = ['mcp', 'add', '--transport', 'http', 'retention', url, ...header];
    await tools.run(program, add, env);
    const options = ['--output-format', 'stream-json', '--verbose'];
    const allow = ['--allowedTools', 'mcp__retention__list_plans'];
    const said = await tools.run(program, ['-p', 'List the plans.', ...allow, ...options], env);
    const events = said
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const begun = events.find(({ subtype }) => subtype === 'init');
    return {
      tools: begun.tools.filter((name: string) => name.startsWith('mcp__retention__')),
      result: events.find(({ type }) => type === 'user')?.message,
    };
  } finally {
    model.close();
  }
}

/** The revision that each asks for, and how it is tried. */
const clients: readonly (readonly [
  Package,
  string,
  (tools: Tools, service: Service) => Promise<Tried>,
])[] = [
  ['@anthropic-ai/claude-code', '2026-07-28', tryClaudeCode],
  ['@modelcontextprotocol/inspector', '2025-06-18', tryInspector],
  ['mcp-remote', '2025-06-18', tryBridge],
  ['@ai-sdk/mcp', '2026-07-28', runScript('ai-sdk.js')],
  ['@langchain/mcp-adapters', '2025-06-18', runScript('langchain.js')],
  ['@openai/agents', '2026-07-28', runScript('openai-agents.js')],
  ['@mastra/mcp', '2026-07-28', runScript('mastra.js')],
];

describe('clients for MCP', () => {
  let tools: Tools;
  let world: World;
  let lines: string[];
  const guide = readFileSync(path.join(root, 'docs', 'mcp.md'), 'utf8');

  before(async () => {
    tools = await installTools(packages);
    cpSync(path.join(import.meta.dirname, 'clients'), path.join(tools.folder, 'clients'), {
      recursive: true,
    });
    const log = createLog('info', { write: (line) => void lines.push(line) });
    lines = [];
    world = await startWorld(openAnyStore(), { log });
    const named = { ...plan(), name: 'Coffee for clients' };
    assert.deepEqual((await importAll(world.store, world.shop, [named])).refused, []);
  });
  after(() => world.close());

  for (const [name, revision, tryIt] of clients) {
    const version = packages[name];
    test(`${name} ${version} lists and calls tools, as the guide says`, async () => {
      lines = [];
      const service = { url: `${world.service.baseUrl}/api/mcp`, key: world.key };
      const tried = await tryIt(tools, service);
      assert.deepEqual(
        tried.tools.map((tool) => tool.replace(/^(?:mcp__)?retention_+/, '')).toSorted(),
        operations.map(({ tool }) => tool).toSorted(),
      );
      assert.match(JSON.stringify(tried.result), /Coffee for clients/);
      // A write may have several lines.
      const logged = lines.join('').split('\n').filter(Boolean);
      const used = new Set(logged.flatMap((line) => JSON.parse(line).revision ?? []));
      const row = guide.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? '';
      assert.deepEqual([...used], [revision]);
      const cells = new Set(row.split('|').map((cell) => cell.trim()));
      assert.ok(cells.has(version) && cells.has(revision), `${name}: ${row}`);
    });
  }
});
