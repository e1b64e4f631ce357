import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { supportedVersions } from '../../src/mcp/classify.ts';
import { request } from '../rest/raw.ts';
import { openAnyStore, startWorld, type World } from '../support/world.ts';

describe('/llms.txt', () => {
  let world: World;
  let text: string;

  before(async () => {
    world = await startWorld(openAnyStore());
    const response = await fetch(`${world.service.baseUrl}/llms.txt`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
    text = await response.text();
  });
  after(() => world.close());

  test('describes the service in the format of llmstxt.org', () => {
    const [title, , summary] = text.split('\n');
    assert.equal(title, '# Retention Data API');
    assert.match(
      summary ?? '',
      /^> Read a shop's subscription retention data\. The same 6 operations/,
    );
    assert.deepEqual(text.match(/^## .*/gm), [
      '## Guides',
      '## Operations',
      '## MCP',
      '## Basics',
      '## Authentication',
      '## Scopes',
      '## Limits',
      '## Errors',
      '## Pagination',
      '## Values',
      '## Versioning',
    ]);
    assert.deepEqual(text.match(/^### .*/gm), [
      '### get_entitlements',
      '### list_subscriptions',
      '### get_subscription',
      '### get_metrics_summary',
      '### list_plans',
      '### list_cancellations',
    ]);
    assert.doesNotMatch(text, /undefined|\[object|rtn_\w{8}/);
  });

  test('names tools, paths, scopes, parameters, limits and revisions', () => {
    for (const line of [
      '- MCP tool `list_plans`; REST `GET /api/external/v1/plans`',
      '- MCP tool `get_subscription`; REST `GET /api/external/v1/subscriptions/{id}`, where {id} is subscriptionId',
      '- Scope: `read:entitlements`',
      "- `customerId` (integer, required): The shop's internal numeric customer id, not an e-mail address.",
      '- `limit` (integer, optional): How many rows a page holds at most, 1 to 100.',
      '- `outcome` (string, optional): Only sessions that ended this way. One of saved, cancelled, abandoned.',
      '| Growth | 60 |',
      '| Pro | 300 |',
      '| Enterprise Plus | no limit |',
    ]) {
      assert.ok(text.split('\n').includes(line), line);
    }
    assert.ok(text.includes(`Revisions ${supportedVersions.join(' and ')} are served`));
  });

  test('has only links that work without a key', async () => {
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? '');
    const paths = links.map((link) => link.replace(world.service.baseUrl, ''));
    assert.deepEqual(paths, [
      '/docs/reference',
      '/docs/reference.md',
      '/api/external/v1/openapi.json',
      '/docs.md',
      ...[
        'quick-start',
        'entitlements',
        'paging',
        'limits',
        'errors',
        'ids',
        'versions',
        'mcp',
        'metrics',
        'definitions',
        'push',
        'import',
        'deploy',
        'settings',
        'commands',
        'changelog',
      ].map((name) => `/docs/${name}.md`),
    ]);
    for (const link of links) assert.equal((await fetch(link)).status, 200);
    assert.ok(text.includes(`- MCP: ${world.service.baseUrl}/api/mcp\n`));
  });

  test('supports only GET and HEAD', async () => {
    const { status } = await request(world.service.baseUrl, 'HEAD', '/llms.txt');
    assert.equal(status, 200);
    const refused = await request(world.service.baseUrl, 'POST', '/llms.txt');
    assert.equal(refused.status, 405);
    assert.equal(refused.headers['allow'], 'GET, HEAD');
  });
});
