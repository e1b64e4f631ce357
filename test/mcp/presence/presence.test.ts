import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { version } from '../../../src/version.ts';
import { freePort } from '../../support/postgres.ts';
import { openAnyStore, startWorld, type World } from '../../support/world.ts';

const schema = z.fromJSONSchema(
  JSON.parse(readFileSync(new URL('./server.schema.json', import.meta.url), 'utf8')),
);

describe('what registries and clients fetch of the MCP endpoint', () => {
  let world: World;
  const baseUrl = 'https://api.shop.example';
  /** Where the test reaches the service. */
  let local: string;

  before(async () => {
    const port = await freePort();
    local = `http://127.0.0.1:${port}`;
    world = await startWorld(openAnyStore(), { listen: { baseUrl, port } });
  });
  after(() => world.close());

  test('server.json fits the registry’s schema, and names the service’s own address', async () => {
    const response = await fetch(`${local}/docs/mcp/server.json`);
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    const described = (await response.json()) as Record<string, any>;
    schema.parse(described);
    assert.equal(described['name'], 'example.shop.api/retention-data-service');
    assert.equal(described['version'], version);
    assert.equal(described['websiteUrl'], `${baseUrl}/docs/mcp`);
    assert.equal(described['remotes'][0].url, `${baseUrl}/api/mcp`);
    const [header] = described['remotes'][0].headers;
    assert.equal(header.value, 'Bearer {api_key}');
    assert.deepEqual([header.isSecret, header.variables.api_key.isSecret], [true, true]);
    for (const { src, mimeType } of described['icons']) {
      const icon = await fetch(src.replace(baseUrl, local));
      assert.equal(icon.status, 200);
      assert.equal(icon.headers.get('content-type'), mimeType);
    }
  });

  test('the schema refuses an entry with a long description, another transport or a bad name', () => {
    const entry = { name: 'example.shop/retention', description: 'Short', version: '1.0.0' };
    const remotes = [{ type: 'streamable-http', url: 'https://shop.example/api/mcp' }];
    assert.equal(schema.safeParse({ ...entry, remotes }).success, true);
    for (const wrong of [
      { ...entry, description: 'x'.repeat(101) },
      { ...entry, name: 'retention' },
      { ...entry, remotes: [{ ...remotes[0], type: 'http' }] },
      { ...entry, remotes: [{ type: 'streamable-http', url: '/api/mcp' }] },
    ]) {
      assert.equal(schema.safeParse(wrong).success, false, JSON.stringify(wrong));
    }
  });
});
