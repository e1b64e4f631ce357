import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { type HtmlValue, html, style } from './html.ts';

test('escapes text', () => {
  const name = '<script>alert(1)</script>';
  assert.equal(
    html`<p>${name} & ${'a&b'}</p>`.toString(),
    '<p>&lt;script&gt;alert(1)&lt;/script&gt; & a&amp;b</p>',
  );
});

test('escapes text in attributes, in double and single quotes', () => {
  const value = `" onload="x" '`;
  const escaped = '&quot; onload=&quot;x&quot; &#39;';
  assert.equal(html`<a title="${value}"></a>`.toString(), `<a title="${escaped}"></a>`);
  // prettier-ignore
  assert.equal(html`<a title='${value}'></a>`.toString(), `<a title='${escaped}'></a>`);
});

test('leaves out the indentation of a template, but not of its values', () => {
  const code = html`<code>${'a\n  b'}</code>`;
  const list = html`<ul>
    <li>
      <pre>${code}</pre>
    </li>
  </ul>`;
  assert.equal(list.toString(), '<ul>\n<li>\n<pre><code>a\n  b</code></pre>\n</li>\n</ul>');
});

test('refuses a value in an unquoted attribute', () => {
  // A formatter would add the quotes, so this calls the tag function directly.
  const strings = Object.assign(['<a title=', '></a>'], { raw: ['<a title=', '></a>'] });
  assert.throws(() => html(strings, 'x'), TypeError);
  assert.equal(html`<p>limit=${5}, a = ${'b'}</p>`.toString(), '<p>limit=5, a = b</p>');
  assert.equal(html`<a href="?id=${5}"></a>`.toString(), '<a href="?id=5"></a>');
});

test('inserts Html unescaped, alone and in arrays, and undefined and false as nothing', () => {
  const items = ['<1>', '2'].map((text) => html`<i>${text}</i>`);
  assert.equal(
    html`<b>${items[1]}${undefined}${false}${items}</b>`.toString(),
    '<b><i>2</i><i>&lt;1&gt;</i><i>2</i></b>',
  );
});

test('escapes values that only look like Html', () => {
  const forged = { toString: () => '<b>' } as unknown as HtmlValue;
  assert.equal(html`${forged}`.toString(), '&lt;b&gt;');
  const strings = ['<b>', '</b>'] as unknown as HtmlValue;
  assert.equal(html`${strings}`.toString(), '&lt;b&gt;&lt;/b&gt;');
  const nested = [['<b>']] as unknown as HtmlValue;
  assert.equal(html`${nested}`.toString(), '&lt;b&gt;');
});

test('hashes the exact text of a style, and refuses one that would close its element', () => {
  const css = 'p > a { color: red; }';
  const { element, source } = style(css);
  assert.equal(element.toString(), `<style>${css}</style>`);
  assert.equal(source, `'sha256-${hash('sha256', css, 'base64')}'`);
  assert.throws(() => style('p { content: "</style><script>" }'), TypeError);
});
