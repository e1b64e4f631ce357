import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeGuide } from './guides.ts';
import { renderArticle } from './markdown.ts';

const render = (text: string) => String(renderArticle(text).content).replace(/\s+/g, ' ');

test('shows HTML as text', () => {
  const hostile = '<script>alert("x")</script>';
  const page = render(
    [`# ${hostile}`, hostile, `a ${hostile} \`${hostile}\``, `    ${hostile}`].join('\n\n'),
  );
  assert.equal(page.split('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;').length - 1, 5);
  assert.doesNotMatch(page, /<script/);
});

test('gives headings the anchors of GitHub, each once', () => {
  const { sections } = renderArticle('# A\n\n## `cus_…`: what it *is*\n\n## A\n\n### A');
  assert.deepEqual(
    sections.map(({ id, title }) => [id, title]),
    [
      ['a', 'A'],
      ['cus_-what-it-is', 'cus_…: what it is'],
      ['a-1', 'A'],
      ['a-2', 'A'],
    ],
  );
});

test('keeps the text below each heading for the search, without code', () => {
  const { sections } = renderArticle(
    '# A\n\nOne [link](#b).\n\n```sh\ncurl\n```\n\n## B\n\n- two\n- `three`\n\n| x | y |\n| - | - |\n| 4 | 5 |\n\n#### six\n\nseven',
  );
  assert.deepEqual(
    sections.map(({ text }) => text.trim()),
    ['One link.', 'two three x y 4 5 six seven'],
  );
});

test('makes tabs of the same example in several languages, and of nothing else', () => {
  const fence = (language: string) => `\`\`\`${language}\nx\n\`\`\``;
  const shapeOf = (...languages: string[]) =>
    [...render(languages.map(fence).join('\n\n')).matchAll(/value="(\w+)"|<pre>/g)]
      .map(([found, tab]) => tab ?? found)
      .join(' ');
  assert.equal(shapeOf('sh', 'js', 'python', 'json'), 'sh js python <pre> <pre> <pre> <pre>');
  assert.equal(shapeOf('sh', 'sh'), '<pre> <pre>');
  assert.equal(shapeOf('sh', 'json'), '<pre> <pre>');
  const between = render(`${fence('sh')}\n\nand\n\n${fence('js')}`);
  assert.doesNotMatch(between, /<input/);
});

test('colours comments, texts and keywords, and escapes them', () => {
  const page = render('```ts\n// <b> "no"\nconst url = `https://a/#b`; // done\n```');
  for (const part of [
    '<span class="comment">// &lt;b&gt; &quot;no&quot;</span>',
    '<span class="keyword">const</span> url = <span class="text">`https://a/#b`</span>;',
    '<span class="comment">// done</span>',
  ]) {
    assert.ok(page.includes(part), part);
  }
});

test('refuses a kind of markup that it cannot show', () => {
  assert.throws(() => render('![picture](a.png)'), /Documents cannot have "image": !\[picture\]/);
});

test('links to pages, names files that are not served, and knows its own address', () => {
  const place = (text: string, extension: '' | '.md') =>
    placeGuide(text, { file: 'docs/guides/ids.md', baseUrl: 'http://localhost:1', extension });
  for (const [text, page, markdown] of [
    ['[a](limits.md)', '[a](/docs/limits)', '[a](/docs/limits.md)'],
    ['[a `b`](../mcp.md#errors)', '[a `b`](/docs/mcp#errors)', '[a `b`](/docs/mcp.md#errors)'],
    ['[a](/docs/reference)', '[a](/docs/reference)', '[a](/docs/reference.md)'],
    ['[a](/docs/reference#b)', '[a](/docs/reference#b)', '[a](/docs/reference.md#b)'],
    ['([the\nrunbook](../operations.md))', '(the\nrunbook)', '(the\nrunbook)'],
    ['[home](home.md)', '[home](/docs)', '[home](/docs.md)'],
    ['[a](#b) [c](https://example.com/x)', '[a](#b) [c](https://example.com/x)', undefined],
    ['https://retention.example/app', 'http://localhost:1/app', undefined],
  ] as const) {
    assert.equal(place(text, ''), page);
    assert.equal(place(text, '.md'), markdown ?? page);
  }
});
