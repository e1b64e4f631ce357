import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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
      // The first page lists all others instead, and the commands are one table.
      const contents = /<nav class="contents"[^]*?<li class="depth-2">/;
      assert.equal(contents.test(page), !['/docs', '/docs/commands'].includes(path), path);
      assert.ok(bytes.length < 40_000, `${path}: ${bytes.length} bytes`);
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
        assert.match(target, /^\/docs(?:\/[-\w]+)*\.md(?:#|$)/);
      }
      const [, title] = /^# (.*)$/m.exec(markdown) ?? [];
      assert.ok((await text(path)).includes(`>${title}</h1>`), path);
    }
  });

  test('has the whole reference as one text of Markdown', async () => {
    const whole = await text('/docs/reference.md');
    for (const path of pagePaths.filter((each) => each.startsWith('/docs/reference/'))) {
      const [, title] = /^# (.*)$/m.exec(await text(`${path}.md`)) ?? [];
      assert.ok(whole.includes(`\n### ${title}\n`), path);
    }
    for (const path of ['/docs.md', '/llms.txt']) {
      assert.match(await text(path), /\/docs\/reference\.md\b/);
    }
  });

  test('shows requests in the language of the address, and remembers it', async () => {
    const chosen = (page: string) =>
      /name="language-code-\d+"\s+value="(\w+)"\s+autocomplete="off"\s+checked/.exec(page)?.[1];
    assert.equal(chosen(await text('/docs/quick-start')), 'sh');
    const url = `${baseUrl}/docs/quick-start`;
    const asked = await receive(`${url}?language=php`);
    assert.equal(chosen(String(asked.bytes)), 'php');
    assert.equal(asked.headers['cache-control'], 'private, no-store');
    const [cookie = ''] = asked.headers['set-cookie']?.[0]?.split(';') ?? [];
    assert.equal(cookie, 'retention-language=php');
    const next = await receive(`${baseUrl}/docs/reference/subscriptions`, {
      cookie: `other=1; ${cookie}`,
    });
    assert.equal(chosen(String(next.bytes)), 'php');
    assert.equal(next.headers['set-cookie'], undefined);
    for (const made of ['cobol', 'constructor', '']) {
      const page = await receive(`${url}?language=${made}`, {
        cookie: `retention-language=${made}`,
      });
      assert.equal(chosen(String(page.bytes)), 'sh');
      assert.equal(page.headers['set-cookie'], undefined);
      assert.equal(page.headers['cache-control'], 'public, max-age=300');
    }
  });

  test('loads only what the service serves, and runs nothing inline', async () => {
    const page = await text('/docs/quick-start');
    const { headers } = await receive(`${baseUrl}/docs/quick-start`);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    assert.deepEqual(page.match(/<script[^>]*>[^<]*/g)?.length, 1);
    assert.doesNotMatch(page, /<style|<iframe|<img| style=| on\w+=/i);
    let size = 0;
    const assets = [...page.matchAll(/(?:src|href)="(\/docs\/docs-[^"]*)"/g)].map(
      ([, path]) => path,
    );
    assert.equal(assets.length, 2);
    for (const path of assets) {
      const asset = await receive(`${baseUrl}${path}`);
      assert.equal(asset.status, 200);
      size += asset.bytes.length;
      assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
    }
    assert.ok(size < 30_000, `${size} bytes`);
  });

  test('is compressed for clients that accept it', async () => {
    const paths = ['/docs', '/docs/mcp.md', '/docs/changelog.atom', '/llms.txt'];
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

  test('is searched on a page of its own, and for scripts', async () => {
    const find = async (words: string) =>
      JSON.parse(await text(`/docs/search.json?q=${encodeURIComponent(words)}`)) as {
        total: number;
        found: { href: string; page: string; title: string; excerpt: string }[];
      };
    const { total, found } = await find('Retry-After  429');
    assert.ok(total > 1);
    for (const { href, page, title } of found) {
      const [path = '', id] = href.split('#');
      assert.ok(pagePaths.includes(path), href);
      assert.ok(id === undefined || attributes(await text(path), 'id').includes(id), href);
      assert.ok(page !== '' && title !== '');
    }
    assert.equal((await find('customerIdOf')).found[0]?.href, '/docs/ids#customeridof');
    assert.equal((await find('paging')).found[0]?.href, '/docs/paging');
    assert.deepEqual(await find('xyzzy'), { total: 0, found: [] });
    assert.deepEqual(await find(''), { total: 0, found: [] });
    assert.ok((await find('e')).total > 50);
    assert.equal((await find('e')).found.length, 10);

    const results = await text('/docs/search?q=Retry-After+429');
    assert.ok(results.includes(`>${total} results for “Retry-After 429”</h1>`));
    for (const { href } of found) assert.ok(results.includes(`<a href="${href}">`), href);
    const hostile = await text('/docs/search?q=%22%3E%3Cscript%3E');
    assert.match(hostile, /value="&quot;&gt;&lt;script&gt;"/);
    assert.match(hostile, /No results for “&quot;&gt;&lt;script&gt;”/);
    assert.equal((await receive(`${baseUrl}/docs/search`)).status, 200);
  });

  test('names pages whose address is like one that does not exist', async () => {
    const similarTo = async (path: string) => {
      const accept = 'text/html';
      const { status, headers, bytes } = await receive(baseUrl + path, { accept });
      assert.deepEqual([status, headers.vary], [404, 'accept'], path);
      const [, list = ''] = String(bytes).split('Pages with a similar address:');
      return attributes(list, 'href').filter((href) => !href.startsWith('#'));
    };
    assert.deepEqual(await similarTo('/docs/quickstart'), ['/docs/quick-start']);
    assert.deepEqual(await similarTo('/docs/error?x=1'), ['/docs/errors']);
    assert.deepEqual(await similarTo('/docs/entitlement.html'), [
      '/docs/entitlements',
      '/docs/reference/customer-entitlements',
    ]);
    assert.deepEqual(await similarTo('/docs/zzz'), []);
    assert.deepEqual(await similarTo('/docs/%00'), []);
  });

  test('has the releases as an Atom feed, which the changelog links', async () => {
    const { headers, bytes } = await receive(`${baseUrl}/docs/changelog.atom`);
    assert.equal(headers['content-type'], 'application/atom+xml; charset=utf-8');
    assert.match(await text('/docs/changelog'), /type="application\/atom\+xml"/);
    const feed = String(bytes);
    assert.ok(feed.startsWith('<?xml version="1.0" encoding="utf-8"?>'));
    const [head = '', ...entries] = feed.split('<entry>');
    const element = (part: string, name: string) =>
      new RegExp(`<${name}[^>]*>([^<]*)</${name}>`).exec(part)?.[1] ?? '';
    const released = [...readChangelog().matchAll(/^## (\S+) - (\S+)$/gm)];
    assert.deepEqual(
      entries.map((entry) => [element(entry, 'title'), element(entry, 'updated')]),
      released.map(([, version, date]) => [version, `${date}T00:00:00Z`]),
    );
    assert.equal(element(head, 'updated'), element(entries[0] ?? '', 'updated'));
    // Readers would show everything again if these changed.
    assert.equal(element(head, 'id'), 'urn:uuid:055a6d0e-e033-88ec-8d53-34ec51969691');
    assert.equal(
      element(entries.at(-1) ?? '', 'id'),
      'urn:uuid:dcd92bef-c034-842c-829c-35a58295ed7e',
    );
    for (const entry of entries) {
      const [link = ''] = attributes(entry, 'href');
      const { pathname, hash } = new URL(link);
      assert.equal(pathname, '/docs/changelog');
      assert.ok(attributes(await text('/docs/changelog'), 'id').includes(hash.slice(1)), link);
      assert.match(element(entry, 'content'), /^&lt;h3[^]*&lt;\/ul&gt;/);
    }
  });
});

const readChangelog = () => readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
