import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/log/log.ts';
import { listConnections } from '../../src/store/connections/read-connections.ts';
import { type World, get, openOwnStore, startWorld } from '../support/world.ts';
import { callModern, inShort, legacyRequest, modernHeaders, modernRequest, post } from './wire.ts';

const endAll = ({ store }: World) =>
  Promise.all(listConnections(store.primary).map((sql) => sql.end(0)));

// Requirements: mcp.errors.500.
test('responds 500 in the envelope without the cause when the database fails, and logs it', async () => {
  const lines: string[] = [];
  const log = createLog('error', { write: (line) => void lines.push(line) });
  const world = await startWorld(openOwnStore(), { log });
  const call = (name: string, args: object = {}) =>
    post(world, legacyRequest('tools/call', { name, arguments: args }));
  try {
    assert.equal(inShort(await callModern(world, 'list_plans')), '200 2026-07-28');
    await endAll(world);

    for (const answer of [
      await call('list_plans'),
      await call('get_subscription', { subscriptionId: 1 }),
      await call('get_metrics_summary'),
      await callModern(world, 'list_plans'),
      await callModern(world, 'get_metrics_summary'),
    ]) {
      assert.equal(answer.status, 500);
      assert.equal(answer.body, '{"success":false,"message":"Internal server error."}');
      assert.equal(answer.headers['cache-control'], 'private, no-store');
    }
    assert.equal(lines.length, 5);
    assert.match(
      lines[0] ?? '',
      /"operation":"list_plans".*The connections to the database are closed/,
    );
    assert.ok(!lines.join('').includes(world.key));
    const rest = await get(`${world.base}/plans`, world.key);
    assert.deepEqual(rest.body, { success: false, message: 'Internal server error.' });

    // Methods that need no database still work while the key's lease lasts.
    assert.equal(inShort(await post(world, legacyRequest('ping'))), '200 2025-06-18');
    const list = await post(world, modernRequest('tools/list'), modernHeaders('tools/list'));
    assert.equal(inShort(list), '200 2026-07-28');
    world.clock.advance(1_001);
    assert.equal(inShort(await post(world, legacyRequest('ping'))), '500 Internal server error.');
  } finally {
    await world.close();
  }
});

test('sends the RateLimit headers with a 500, over REST and MCP', async () => {
  const world = await startWorld(openOwnStore(), { tier: 'growth' });
  try {
    assert.equal(inShort(await callModern(world, 'list_plans')), '200 2026-07-28');
    await endAll(world);

    const mcp = await callModern(world, 'list_plans');
    assert.equal(mcp.status, 500);
    assert.equal(mcp.headers['ratelimit-policy'], '"default";q=60;w=60');
    assert.equal(mcp.headers['ratelimit'], '"default";r=58;t=60');
    const rest = await get(`${world.base}/plans`, world.key);
    assert.equal(rest.status, 500);
    assert.equal(rest.headers.get('ratelimit-policy'), '"default";q=60;w=60');
    assert.equal(rest.headers.get('ratelimit'), '"default";r=57;t=60');
    assert.equal(rest.headers.get('cache-control'), 'private, no-store');
  } finally {
    await world.close();
  }
});
