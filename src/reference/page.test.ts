import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { restV1 } from '../operations/versions.ts';
import { buildOpenApi } from './openapi.ts';
import { referencePageCsp, renderReferencePage } from './page.ts';

const serverUrl = 'https://retention.example';
const document = buildOpenApi({ serverUrl, version: restV1 });
const page = renderReferencePage(document, restV1);

function attributes(name: string): string[] {
  return [...page.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value]) => value ?? '');
}

test('shows every path, parameter, schema and field', () => {
  for (const [path, { get }] of Object.entries(document.paths)) {
    assert.ok(page.includes(path), path);
    for (const { name } of get.parameters) assert.ok(page.includes(`<code>${name}</code>`), name);
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    assert.ok(page.includes(`id="shape-${name}"`), name);
    for (const field of Object.keys(schema.properties ?? {})) {
      assert.ok(page.includes(`<code>${field}</code>`), `${name}.${field}`);
    }
  }
  assert.ok(page.includes('<code>pricing.discountType</code>'));
});

test('explains the entitlement rule and the formula of each figure', () => {
  const text = page.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
  for (const sentence of [
    'It entitles while its status is active and, in any other status, as long as now is before paidThroughAt',
    'if that is unknown, it counts as past',
    '365/(12n) for days, 365/(84n) for weeks, 1/n for months and 1/(12n) for years',
    'payments − refunds: payments that succeeded in the last 30 days and refunds made in the last 30 days',
    'saved / (saved + cancelled + abandoned), over cancel-flow sessions created in the last 30 days',
    'recovered / (recovered + lost), over dunning cases closed in the last 30 days',
    'cancelled or failed now and became so in the last 30 days. Expiry is a planned end, not churn.',
    'A payment that succeeds closes it as recovered',
    'sum of currentPrice / number of subscriptions, over active ones',
    'the 30 × 24 hours before it, the next 7 days the 7 × 24 hours from it on',
    'Rates are rounded to 4 decimals',
  ]) {
    assert.ok(text.includes(sentence), sentence);
  }
});

test('shows curl commands that can be pasted into a shell', () => {
  const commands = [...page.matchAll(/<pre class="command"><code>([^<]*)<\/code>/g)].map(
    ([, text = '']) => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
  );
  const curl = `curl -H "Authorization: Bearer $RETENTION_KEY" \\\n  `;
  assert.deepEqual(commands, [
    `${curl}'https://retention.example/api/external/v1/entitlements?customerId=18204'`,
    `${curl}'https://retention.example/api/external/v1/subscriptions?limit=2&amp;status=active'`,
    `${curl}'https://retention.example/api/external/v1/subscriptions/4071'`,
    `${curl}'https://retention.example/api/external/v1/metrics/summary'`,
    `${curl}'https://retention.example/api/external/v1/plans'`,
    `${curl}'https://retention.example/api/external/v1/cancellations?limit=2&amp;outcome=saved'`,
  ]);
});

test('loads and runs nothing, and its policy allows only its own style', () => {
  for (const address of [...attributes('href'), ...attributes('src')]) {
    const isOwn = address.startsWith(`${serverUrl}/`);
    assert.ok(isOwn || address.startsWith('#') || address === 'data:,', address);
  }
  assert.doesNotMatch(page, /<script|<iframe|<img|@import|url\(| style=| on\w+=/i);

  const css = page.match(/<style>([^]*?)<\/style>/)?.[1] ?? '';
  assert.equal(
    referencePageCsp,
    `default-src 'none'; style-src 'sha256-${hash('sha256', css, 'base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
});

test('has unique ids, and a target for every internal link and label', () => {
  const ids = attributes('id');
  assert.deepEqual(ids, [...new Set(ids)]);
  const links = attributes('href').filter((href) => href.startsWith('#'));
  for (const id of [...links.map((href) => href.slice(1)), ...attributes('aria-labelledby')]) {
    assert.ok(ids.includes(id), id);
  }
});

test('has one h1, and skips no heading level', () => {
  const levels = [...page.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
  assert.equal(levels.filter((level) => level === 1).length, 1);
  assert.equal(levels[0], 1);
  for (const [index, level] of levels.entries()) {
    assert.ok(level <= (levels[index - 1] ?? 0) + 1, `heading ${index}`);
  }
});

test('escapes the text of the document', () => {
  const hostile = '<script>alert("x")</script>';
  const { description: _, ...info } = document.info;
  const altered = renderReferencePage(
    {
      ...document,
      info: { ...info, title: hostile, description: hostile },
      servers: [{ url: `https://x.example/"><b>` }],
    },
    restV1,
  );
  assert.ok(altered.includes('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;'));
  assert.doesNotMatch(altered, /<script|<b>/);
});
