import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restV1 } from '../operations/versions.ts';
import { buildOpenApi } from './openapi.ts';
import { renderReference } from './reference.ts';

const serverUrl = 'https://retention.example';
const document = buildOpenApi({ serverUrl, version: restV1 });
const text = renderReference(document, restV1);

test('shows every path, parameter, schema and field', () => {
  for (const [path, { get }] of Object.entries(document.paths)) {
    assert.ok(text.includes(path), path);
    for (const { name } of get.parameters) assert.ok(text.includes(`| \`${name}\` |`), name);
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    assert.match(text, new RegExp(`^###+ (?:Response: )?${name}$`, 'm'));
    for (const field of Object.keys(schema.properties ?? {})) {
      assert.ok(text.includes(`| \`${field}\` |`), `${name}.${field}`);
    }
  }
  assert.ok(text.includes('| `pricing.discountType` |'));
});

test('explains the entitlement rule and the formula of each figure', () => {
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
    assert.ok(text.replaceAll('`', '').includes(sentence), sentence);
  }
});

test('shows curl commands that can be pasted into a shell', () => {
  const commands = [...text.matchAll(/^```sh\n([^]*?)\n```$/gm)].map(([, command]) => command);
  const header = ` \\\n  -H "Authorization: Bearer $RETENTION_API_KEY"`;
  assert.deepEqual(commands, [
    `curl 'https://retention.example/api/external/v1/entitlements?customerId=2352'${header}`,
    `curl 'https://retention.example/api/external/v1/subscriptions?limit=2&status=active'${header}`,
    `curl 'https://retention.example/api/external/v1/subscriptions/3909'${header}`,
    `curl 'https://retention.example/api/external/v1/metrics/summary'${header}`,
    `curl 'https://retention.example/api/external/v1/plans'${header}`,
    `curl 'https://retention.example/api/external/v1/cancellations?limit=2&outcome=saved'${header}`,
  ]);
});

test('has one title, and skips no heading level', () => {
  const levels = [...text.matchAll(/^(#+) /gm)].map(([, marks = '']) => marks.length);
  assert.equal(levels.filter((level) => level === 1).length, 1);
  assert.equal(levels[0], 1);
  for (const [index, level] of levels.entries()) {
    assert.ok(level <= (levels[index - 1] ?? 0) + 1, `heading ${index}`);
  }
});
