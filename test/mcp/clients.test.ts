import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as ClientOf1x } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportOf1x } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createTestKey, openAnyStore, startWorld, type World } from '../support/world.ts';
import { importGenerated, restBody } from './rest-equivalents.ts';
import { mcpPath } from './wire.ts';

const clientInfo = { name: 'test', version: '1.0.0' };

/** The part of an official client that the tests use. */
interface Connected {
  readonly negotiated: string | undefined;
  readonly server: unknown;
  readonly instructions: string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(name: string, args: Record<string, unknown>): Promise<Record<string, any>>;
  close(): Promise<void>;
}

type Connect = (url: URL, key: string) => Promise<Connected>;

function connectWith(mode: VersionNegotiationMode): Connect {
  return async (url, key) => {
    const client = new Client(clientInfo, { versionNegotiation: { mode } });
    const headers = { authorization: `Bearer ${key}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return {
      negotiated: client.getNegotiatedProtocolVersion(),
      server: client.getServerVersion(),
      instructions: client.getInstructions(),
      listTools: () => client.listTools(),
      callTool: (name, args) => client.callTool({ name, arguments: args }),
      close: () => client.close(),
    };
  };
}

const connectOf1x: Connect = async (url, key) => {
  const client = new ClientOf1x(clientInfo);
  const headers = { authorization: `Bearer ${key}` };
  const transport = new TransportOf1x(url, { requestInit: { headers } });
  // Its types are not compatible with exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    negotiated: transport.protocolVersion,
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    listTools: () => client.listTools(),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
};

const clients: readonly (readonly [name: string, revision: string, connect: Connect])[] = [
  ['the 2.x client pinned to 2026-07-28', '2026-07-28', connectWith({ pin: '2026-07-28' })],
  ['the 2.x client that negotiates by itself', '2026-07-28', connectWith('auto')],
  ['the 2.x client in its older mode', '2025-06-18', connectWith('legacy')],
  ['the 1.x client', '2025-06-18', connectOf1x],
];

const toolNames = [
  'get_entitlements',
  'list_subscriptions',
  'get_subscription',
  'get_metrics_summary',
  'list_plans',
  'list_cancellations',
];

const calls: readonly (readonly [string, Record<string, unknown>])[] = [
  ['get_entitlements', { customerId: 501 }],
  ['list_subscriptions', { limit: 7 }],
  ['list_subscriptions', { limit: 3, status: 'cancelled' }],
  ['get_subscription', { subscriptionId: 1001 }],
  ['get_metrics_summary', {}],
  ['list_plans', {}],
  ['list_cancellations', { limit: 5 }],
];

describe('official clients', () => {
  let world: World;
  let url: URL;
  const use = async (
    connect: Connect,
    work: (client: Connected) => Promise<void>,
    key = world.key,
  ) => {
    const client = await connect(url, key);
    try {
      await work(client);
    } finally {
      await client.close();
    }
  };

  before(async () => {
    world = await startWorld(openAnyStore());
    url = new URL(world.service.baseUrl + mcpPath);
    assert.deepEqual((await importGenerated(world, 60, 1)).refused, []);
  });
  after(() => world.close());

  for (const [name, revision, connect] of clients) {
    test(`${name} connects, lists and calls every tool, and gets the same as from REST`, () =>
      use(connect, async (client) => {
        assert.equal(client.negotiated, revision);
        assert.equal((client.server as { name: string }).name, 'retention-data-service');
        assert.match(client.instructions ?? '', /get_metrics_summary for an overview/);
        const { tools } = await client.listTools();
        assert.deepEqual(
          tools.map((tool) => tool.name),
          toolNames,
        );
        // After listing the tools, the client checks each result against its outputSchema.
        for (const [tool, input] of calls) {
          const { content, structuredContent, isError } = await client.callTool(tool, input);
          const { text } = await restBody(world, tool, input);
          assert.equal(isError, undefined);
          assert.equal(content[0].text, text);
          assert.deepEqual(structuredContent, JSON.parse(text));
        }
      }));

    test(`${name} gets a result for invalid arguments, and an error for an unknown tool`, () =>
      use(connect, async (client) => {
        const refused = await client.callTool('list_subscriptions', { limit: 101 });
        assert.equal(refused['isError'], true);
        assert.equal(refused['content'][0].text, 'limit must be an integer from 1 to 100.');
        await assert.rejects(client.callTool('get_plans', {}), (error: any) => {
          assert.equal(error.code, -32602);
          assert.match(error.message, /Unknown tool: get_plans$/);
          return true;
        });
      }));

    test(`${name} sees the tools that its key permits, and fails with an invalid key`, async () => {
      const { key } = await createTestKey(world.store, world.shop.id, ['read:plans']);
      await use(
        connect,
        async (client) => {
          const { tools } = await client.listTools();
          assert.deepEqual(
            tools.map((tool) => tool.name),
            ['list_plans'],
          );
          await assert.rejects(
            client.callTool('get_metrics_summary', {}),
            /Unknown tool: get_metrics_summary$/,
          );
        },
        key,
      );
      await assert.rejects(connect(url, 'rtn_nonsense'), /401|Unauthorized/);
    });
  }
});
