import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readCredentials } from '../../../src/platforms/credentials/file.ts';
import { shopify } from '../../../src/platforms/shopify/platform.ts';
import { UsageError } from '../../../src/errors.ts';
import { throwawayFolder } from '../../cli/process.ts';

const accessToken = 'shpat_0123456789abcdef0123456789abcdef';
const shop = { shop: 1, domain: 'sample-shop.myshopify.com', accessToken };

function fileOf(content: unknown): string {
  const file = path.join(throwawayFolder(), 'shopify.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function problemsOf(file: string): Promise<string[]> {
  const error = await readCredentials(shopify, file).catch((reason: unknown) => reason);
  assert.ok(error instanceof UsageError);
  const [first, ...problems] = error.message.split('\n');
  assert.equal(first, `SHOPIFY_CREDENTIALS_FILE, ${file}, is not usable:`);
  return problems.map((line) => line.trim());
}

test('reads the shops of a credentials file', async () => {
  const other = { ...shop, shop: 2, domain: 'a.myshopify.com', baseUrl: 'https://proxy.example/a' };
  const here = { ...shop, shop: 3, domain: 'b.myshopify.com', baseUrl: 'http://127.0.0.1:8080' };
  const shops = [shop, other, here];
  assert.deepEqual(await readCredentials(shopify, fileOf({ shops })), shops);
});

test('reports all problems together, without showing values', async () => {
  const shops = [
    { shop: '1', domain: 'sample-shop.example', accessToken: 'sesame' },
    { ...shop, [accessToken]: accessToken },
    'sesame',
    { ...shop, shop: 4, domain: 'c.myshopify.com', baseUrl: 'http://sesame.example' },
    { shop: 5, domain: 'd.myshopify.com', accessToken: `${accessToken}\nx: sesame` },
    { ...shop, shop: 6, domain: 'e.myshopify.com', clientSecret: 'sesame_sesame_sesame' },
    { shop: 7, domain: 'f.myshopify.com', clientId: '0123456789abcdef' },
    { shop: 8, domain: 'g.myshopify.com' },
  ];
  const token =
    "accessToken must be the app's access token for the Admin API, which begins with shpat_ or another shp…_.";
  const problems = await problemsOf(fileOf({ shops }));
  assert.deepEqual(problems, [
    'shops[0].shop must be the number of a shop.',
    'shops[0].domain must be text such as "sample-shop.myshopify.com".',
    `shops[0].${token}`,
    'shops[1] has an unknown field; the known ones are shop, domain, accessToken, clientId, clientSecret, baseUrl.',
    'shops[2] must be an object with shop, domain and accessToken, or clientId and clientSecret.',
    'shops[3].baseUrl must be left out, or an https:// address (http:// on this machine only).',
    `shops[4].${token}`,
    ...[5, 6, 7].map(
      (index) => `shops[${index}] must have either accessToken, or clientId and clientSecret.`,
    ),
  ]);
});

test('refuses duplicate shops and domains', async () => {
  const shops = [shop, { ...shop }];
  assert.deepEqual(await problemsOf(fileOf({ shops })), [
    'shop 1 appears more than once.',
    'domain sample-shop.myshopify.com appears more than once.',
  ]);
});

test('refuses a file that is missing, unreadable or not a list of shops', async () => {
  assert.deepEqual(await problemsOf(fileOf(`{"shops": [${accessToken}`)), ['It is not JSON.']);
  for (const content of [[], {}, { shops: [] }, { shops: shop }, 'null']) {
    assert.deepEqual(await problemsOf(fileOf(content)), [
      'It must be {"shops":[…]} with at least one shop.',
    ]);
  }
  const folder = throwawayFolder();
  assert.deepEqual(await problemsOf(path.join(folder, 'none')), ['There is no such file.']);
  assert.deepEqual(await problemsOf(folder), ['It cannot be read (EISDIR).']);
});
