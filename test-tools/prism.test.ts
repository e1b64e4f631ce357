import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listConnections } from '../src/store/connections/read-connections.ts';
import { buildOpenApi } from '../src/reference/openapi.ts';
import { restV1 } from '../src/operations/versions.ts';
import { root } from '../test/cli/process.ts';
import { importGenerated } from '../test/mcp/rest-equivalents.ts';
import { freePort } from '../test/support/postgres.ts';
import { until } from '../test/support/until.ts';
import {
  createShop,
  createTestKey,
  openAnyStore,
  startWorld,
  type World,
} from '../test/support/world.ts';
import { type Scope, scopes } from '../src/vocabulary.ts';
import { type Tools, installTools } from './install.ts';

const { paths } = buildOpenApi({ serverUrl: 'http://127.0.0.1', version: restV1 });

/** A request that gets a status, by that status. */
interface Asked {
  readonly key?: string;
  readonly query?: string;
  readonly method?: string;
  readonly id?: string;
}

/** What Prism reports of an exchange in the header `sl-violations`. */
interface Violation {
  readonly location: readonly string[];
  readonly message: string;
}

describe('Prism’s validating proxy', () => {
  let tools: Tools;
  let world: World;
  let proxy: string;
  let subscriptionId: string;
  let keys: Readonly<Record<'of a low tier' | 'over the limit' | Scope, string>>;

  before(async () => {
    tools = await installTools({ '@stoplight/prism-cli': '5.16.0' });
    world = await startWorld(openAnyStore());
    assert.deepEqual((await importGenerated(world, 60, 1)).refused, []);
    const { store, base, key } = world;
    const limited = await createShop(store, { tier: 'growth' });
    const low = await createShop(store, { tier: 'starter' });
    const without = async (scope: Scope) => {
      const others = scopes.filter((each) => each !== scope);
      return (await createTestKey(store, world.shop.id, others)).key;
    };
    keys = {
      'read:entitlements': await without('read:entitlements'),
      'read:subscriptions': await without('read:subscriptions'),
      'read:metrics': await without('read:metrics'),
      'read:plans': await without('read:plans'),
      'of a low tier': (await createTestKey(store, low.id)).key,
      'over the limit': (await createTestKey(store, limited.id)).key,
    };
    const send = (bearer: string, target: string) =>
      fetch(`${base}${target}`, { headers: { authorization: `Bearer ${bearer}` } });
    const { subscriptions } = JSON.parse(await (await send(key, '/subscriptions?limit=1')).text());
    subscriptionId = String(subscriptions[0].subscriptionId);
    for (let count = 0; count < 60; count += 1) await send(keys['over the limit'], '/plans');

    proxy = await startProxy(world.service.baseUrl);
  });
  after(() => world.close());

  /** @returns the proxy's address */
  async function startProxy(upstream: string): Promise<string> {
    const port = String(await freePort());
    tools.start('prism', ['proxy', path.join(root, 'openapi.json'), upstream, '-p', port]);
    const address = `http://127.0.0.1:${port}`;
    await until(() => fetch(address).then(Boolean, () => false));
    return address;
  }

  const requestsFor = (scope: Scope): Readonly<Record<string, readonly Asked[]>> => ({
    '200': [{}],
    '400': [{ query: 'customerId=none&limit=0' }],
    '401': [{ key: 'rtn_none' }],
    '403': [{ key: keys[scope] }, { key: keys['of a low tier'] }],
    '404': [{ id: '1' }],
    '405': [{ method: 'POST' }],
    '429': [{ key: keys['over the limit'] }],
    '500': [{}],
  });

  async function ask(
    route: string,
    { key = world.key, query, method = 'GET', id }: Asked,
    through = proxy,
  ) {
    const target = route.replace('{id}', id ?? subscriptionId);
    const required = route.includes('entitlements') ? 'customerId=1' : '';
    const response = await fetch(`${through}${target}?${query ?? required}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
    });
    const reported = response.headers.get('sl-violations') ?? '[]';
    const body = JSON.parse(await response.text());
    return { status: response.status, body, violations: JSON.parse(reported) as Violation[] };
  }

  test('reports an answer that lacks a field', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"subscriptions":[{}]}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const [route = ''] = Object.keys(paths);
      const { violations } = await ask(route, {}, await startProxy(`http://127.0.0.1:${port}`));
      assert.match(JSON.stringify(violations), /must have required property 'subscriptionId'/);
    } finally {
      server.close();
    }
  });

  for (const status of ['200', '400', '401', '403', '404', '405', '429', '500']) {
    const routes = Object.keys(paths).filter(
      (route) => status in (paths[route]?.get.responses ?? {}),
    );
    test(`reports no violation in answers with ${status}, of ${routes.length} paths`, async () => {
      if (status === '500') {
        const connections = listConnections(world.store.primary);
        await Promise.all(connections.map((sql) => sql.end(0)));
      }
      for (const route of routes) {
        const scope = paths[route]?.get['x-required-scope'] as Scope;
        for (const asked of requestsFor(scope)[status] ?? assert.fail()) {
          const answer = await ask(route, asked);
          assert.equal(String(answer.status), status, route);
          if (status !== '200') assert.equal(answer.body.success, false);
          // Requests that get these break the contract, which Prism reports, too.
          const isBroken = status === '400' || status === '405';
          const found = answer.violations.filter(
            ({ location }) => !isBroken || location[0] === 'response',
          );
          assert.deepEqual(found, [], route);
        }
      }
    });
  }
});
