import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { type HtmlValue, html, style } from './html.ts';

test('text cannot become markup', () => {
  const name = '<script>alert(1)</script>';
  assert.equal(
    html`<p>${name} & ${'a&b'}</p>`.toString(),
    '<p>&lt;script&gt;alert(1)&lt;/script&gt; & a&amp;b</p>',
  );
});

test('text cannot leave its attribute, whichever quotes it has', () => {
  const value = `" onload="x" '`;
  const escaped = '&quot; onload=&quot;x&quot; &#39;';
  assert.equal(html`<a title="${value}"></a>`.toString(), `<a title="${escaped}"></a>`);
  // prettier-ignore
  assert.equal(html`<a title='${value}'></a>`.toString(), `<a title='${escaped}'></a>`);
});

test('a value in an attribute without quotes is refused', () => {
  // Formatters put the quotes in, so the template is written as the runtime would hand it over.
  const strings = Object.assign(['<a title=', '></a>'], { raw: ['<a title=', '></a>'] });
  assert.throws(() => html(strings, 'x'), TypeError);
  assert.equal(html`<p>limit=${5}, a = ${'b'}</p>`.toString(), '<p>limit=5, a = b</p>');
  assert.equal(html`<a href="?id=${5}"></a>`.toString(), '<a href="?id=5"></a>');
});

test('finished markup goes in as it is, alone and in arrays; undefined is nothing', () => {
  const items = ['<1>', '2'].map((text) => html`<i>${text}</i>`);
  assert.equal(
    html`<b>${items[1]}${undefined}${items}</b>`.toString(),
    '<b><i>2</i><i>&lt;1&gt;</i><i>2</i></b>',
  );
});

test('what only looks like finished markup is escaped', () => {
  const forged = { toString: () => '<b>' } as unknown as HtmlValue;
  assert.equal(html`${forged}`.toString(), '&lt;b&gt;');
  const strings = ['<b>', '</b>'] as unknown as HtmlValue;
  assert.equal(html`${strings}`.toString(), '&lt;b&gt;&lt;/b&gt;');
  const nested = [['<b>']] as unknown as HtmlValue;
  assert.equal(html`${nested}`.toString(), '&lt;b&gt;');
});

test('a style goes with the hash of its exact text, and cannot end its element', () => {
  const css = 'p > a { color: red; }';
  const { element, source } = style(css);
  assert.equal(element.toString(), `<style>${css}</style>`);
  assert.equal(source, `'sha256-${hash('sha256', css, 'base64')}'`);
  assert.throws(() => style('p { content: "</style><script>" }'), TypeError);
});
