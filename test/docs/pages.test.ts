import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { pagePaths, receive } from './serving.ts';

describe('the documentation', () => {
  let world: World;
  let baseUrl: string;
  const text = async (path: string) => String((await receive(baseUrl + path)).bytes);

  before(async () => {
    world = await startWorld(openAnyStore());
    ({ baseUrl } = world.service);
  });
  after(() => world.close());

  const attributes = (page: string, name: string) =>
    [...page.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value]) => value ?? '');

  test('has a page for each guide, with a title, navigation and contents', async () => {
    for (const path of pagePaths) {
      const { status, headers, bytes } = await receive(baseUrl + path);
      assert.equal(status, 200, path);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(headers['cache-control'], 'public, max-age=300');
      const page = String(bytes);
      assert.equal(page.split('<h1').length, 2, path);
      assert.deepEqual(
        [...page.matchAll(/href="(\/docs[^"#.]*)"\s+aria-current="page"/g)].map(([, href]) => href),
        // One navigation for phones, one beside the text.
        [path, path],
      );
      assert.match(page, /<nav class="contents"[^]*?<li class="depth-2">/);
      assert.doesNotMatch(page, /retention\.example|\bundefined\b|\[object/);
    }
  });

  test('links only to pages and headings that exist', async () => {
    const pages = new Map<string, string>();
    for (const path of pagePaths) pages.set(path, await text(path));
    for (const [path, page] of pages) {
      const ids = attributes(page, 'id');
      assert.deepEqual(ids, [...new Set(ids)], path);
      for (const href of attributes(page, 'href')) {
        if (/^data:|^https:/.test(href) || href === '/app') continue;
        const { origin, pathname, hash } = new URL(href, baseUrl + path);
        assert.equal(origin, baseUrl, href);
        const target = pages.get(pathname);
        if (target === undefined) {
          const { status } = await fetch(baseUrl + pathname, { redirect: 'manual' });
          assert.ok([200, 303].includes(status), `${path} links to ${href}: ${status}`);
        }
        if (hash === '') continue;
        const id = decodeURIComponent(hash.slice(1));
        assert.ok(attributes(target ?? '', 'id').includes(id), `${path} links to ${href}`);
      }
    }
  });

  test('leads from each page to the one before and the one after', async () => {
    for (const [index, path] of pagePaths.entries()) {
      const page = await text(path);
      for (const [rel, neighbour] of [
        ['prev', pagePaths[index - 1]],
        ['next', pagePaths[index + 1]],
      ] as const) {
        const [, href] = new RegExp(`<a rel="${rel}" href="([^"]*)"`).exec(page) ?? [];
        assert.equal(href, neighbour, `${rel} of ${path}`);
      }
    }
  });

  test('has each page as Markdown, with links to Markdown', async () => {
    for (const path of pagePaths) {
      const { status, headers, bytes } = await receive(`${baseUrl}${path}.md`);
      assert.equal(status, 200, path);
      assert.equal(headers['content-type'], 'text/markdown; charset=utf-8');
      const markdown = String(bytes);
      assert.match(markdown, /^# /);
      assert.doesNotMatch(markdown, /retention\.example/);
      for (const [, target = ''] of markdown.matchAll(/\]\((\/[^)]*)\)/g)) {
        assert.match(target, /^\/docs(?:\/[-\w]+)?\.md(?:#|$)/);
      }
      const [, title] = /^# (.*)$/m.exec(markdown) ?? [];
      assert.ok((await text(path)).includes(`>${title}</h1>`), path);
    }
  });

  test('loads only what the service serves, and runs nothing inline', async () => {
    const page = await text('/docs/quick-start');
    const { headers } = await receive(`${baseUrl}/docs/quick-start`);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    assert.deepEqual(page.match(/<script[^>]*>[^<]*/g)?.length, 1);
    assert.doesNotMatch(page, /<style|<iframe|<img| style=| on\w+=/i);
    let size = 0;
    const assets = [...page.matchAll(/(?:src|href)="(\/docs\/docs-[^"]*)"/g)].map(
      ([, path]) => path,
    );
    assert.equal(assets.length, 2);
    for (const path of [...assets, '/docs/search.json']) {
      const asset = await receive(`${baseUrl}${path}`);
      assert.equal(asset.status, 200);
      size += asset.bytes.length;
      if (path === '/docs/search.json') continue;
      assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
    }
    assert.ok(size < 150_000, `${size} bytes`);
  });

  test('is compressed for clients that accept it', async () => {
    const paths = ['/docs', '/docs/mcp.md', '/docs/search.json', '/llms.txt'];
    for (const path of [...paths, '/api/external/v1/openapi.json']) {
      const plain = await receive(baseUrl + path);
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.match(plain.headers.vary ?? '', /accept-encoding/);
      for (const [accepted, coding, decode] of [
        ['gzip, deflate, br', 'br', brotliDecompressSync],
        ['gzip, br;q=0', 'gzip', gunzipSync],
      ] as const) {
        const answer = await receive(baseUrl + path, { 'accept-encoding': accepted });
        assert.equal(answer.headers['content-encoding'], coding, path);
        assert.equal(answer.headers['content-length'], String(answer.bytes.length));
        assert.ok(answer.bytes.length < plain.bytes.length / 2, path);
        assert.deepEqual(decode(answer.bytes), plain.bytes);
        assert.notEqual(answer.headers.etag, plain.headers.etag);
      }
    }
  });

  test('answers 304 to a client that has the page', async () => {
    for (const encoding of ['identity', 'gzip', 'br']) {
      const accepted = { 'accept-encoding': encoding };
      const { headers } = await receive(`${baseUrl}/docs`, accepted);
      const etag = String(headers.etag);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await receive(`${baseUrl}/docs`, { ...accepted, 'if-none-match': known });
        assert.equal(answer.status, 304, known);
        assert.equal(answer.bytes.length, 0);
        assert.equal(answer.headers.etag, etag);
        assert.equal(answer.headers['cache-control'], headers['cache-control']);
        assert.equal(answer.headers.vary, headers.vary);
        assert.equal(answer.headers['content-length'], undefined);
      }
      const other = await receive(`${baseUrl}/docs`, { ...accepted, 'if-none-match': '"other"' });
      assert.equal(other.status, 200);
    }
  });

  test('answers HEAD as GET, and refuses other methods', async () => {
    for (const path of ['/docs/limits', '/docs/limits.md', '/docs.md']) {
      const [get, head] = [
        await receive(baseUrl + path),
        await receive(baseUrl + path, {}, 'HEAD'),
      ];
      assert.equal(head.status, 200);
      assert.equal(head.bytes.length, 0);
      assert.equal(head.headers['content-length'], String(get.bytes.length));
      assert.equal((await receive(baseUrl + path, {}, 'POST')).status, 405);
    }
    assert.equal((await receive(`${baseUrl}/docs/nothing`)).status, 404);
  });

  test('is where / leads people, and only people', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const person = await receive(`${baseUrl}/`, { accept });
    assert.deepEqual([person.status, person.headers.location], [302, '/docs']);
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const machine = await receive(`${baseUrl}/`, headers);
      assert.equal(machine.status, 404);
      assert.equal(machine.headers['content-type'], 'application/json; charset=utf-8');
      assert.equal(machine.headers.vary, 'accept');
      assert.equal(String(machine.bytes), '{"success":false,"message":"Not found."}');
    }
  });

  test('can be searched by an index of all sections', async () => {
    const index: string[][] = JSON.parse(await text('/docs/search.json'));
    for (const path of pagePaths) {
      const ids = attributes(await text(path), 'id');
      const found = index.filter(([href]) => href?.split('#', 1)[0] === path);
      assert.ok(found.length > 1, path);
      for (const [href = ''] of found) {
        const [, id] = href.split('#');
        assert.ok(id === undefined || ids.includes(id), href);
      }
    }
  });
});
