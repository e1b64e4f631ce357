import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { receive } from '../docs/serving.ts';
import { openAnyStore, startWorld, type World } from '../support/world.ts';

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const programs = [{}, { accept: '*/*' }, { accept: 'application/json, text/html;q=0.5' }];
const envelope = '{"success":false,"message":"Not found."}';
const apiPaths = ['/api', '/api/nothing', '/api/external/v1/nothing', '/api/mcp/nothing'];
const otherPaths = [
  '/nothing',
  '/apiary',
  '/app/nothing',
  '/app/shops/1/nothing',
  '/docs/nothing',
  '/docs/nothing.md',
  '/healthz/nothing',
];

describe('a path that does not exist', () => {
  let world: World;
  let baseUrl: string;
  before(async () => {
    world = await startWorld(openAnyStore());
    ({ baseUrl } = world.service);
  });
  after(() => world.close());

  test('is a page to browsers, with ways on', async () => {
    for (const path of otherPaths) {
      const { status, headers, bytes } = await receive(baseUrl + path, browser);
      assert.deepEqual([status, headers['content-type']], [404, 'text/html; charset=utf-8'], path);
      const page = String(bytes);
      assert.match(page, /<h1[^>]*>Page not found<\/h1>/, path);
      assert.match(page, /<a href="\/app">/, path);
      assert.match(page, /<a href="\/docs">/, path);
      const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page) ?? [];
      assert.equal((await receive(baseUrl + style)).status, 200, path);
      const head = await receive(baseUrl + path, browser, 'HEAD');
      assert.equal(head.status, 404, path);
      assert.equal(head.bytes.length, 0, path);
      assert.equal(head.headers['content-length'], String(bytes.length), path);
    }
  });

  test('is the envelope to programs', async () => {
    for (const path of otherPaths) {
      for (const accept of programs) {
        const { status, headers, bytes } = await receive(baseUrl + path, accept);
        assert.deepEqual([status, String(bytes)], [404, envelope], path);
        assert.equal(headers.vary, 'accept', path);
        const head = await receive(baseUrl + path, accept, 'HEAD');
        assert.deepEqual([head.status, head.bytes.length], [404, 0], path);
      }
    }
  });

  test('is the envelope to everyone below /api', async () => {
    for (const path of apiPaths) {
      for (const accept of [browser, ...programs]) {
        const { status, bytes } = await receive(baseUrl + path, accept);
        assert.deepEqual([status, String(bytes)], [404, envelope], path);
        const head = await receive(baseUrl + path, accept, 'HEAD');
        assert.deepEqual(
          [head.status, head.headers['content-length']],
          [404, String(envelope.length)],
          path,
        );
      }
    }
  });
});
