import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { onOneDatabase } from '../../support/databases.ts';
import { plain } from '../page-text.ts';
import {
  ndjson,
  plan,
  pressImport,
  resultOf,
  type Uploads,
  startUploads,
  subscription,
} from './upload-world.ts';

const endless = Array(1_300_000).fill('{}').join(',');

/** A subscription as Stripe's API lists it. */
const ofStripe = (id: number, items: string) =>
  `{"id":"sub_${id}","object":"subscription","customer":"cus_${id}","status":"active","created":1700000000,"currency":"usd","items":{"object":"list","data":[${items}]}}\n`;
const item = `{"id":"si_1","quantity":1,"price":{"id":"price_1","unit_amount":1000,"currency":"usd","product":"prod_1","recurring":{"interval":"month","interval_count":1}}}`;

onOneDatabase('an uploaded file that asks for too much', (open) => {
  let world: Uploads;
  before(async () => {
    // Enough for usual files.
    world = await startUploads(open(), { heapMegabytes: 48 });
  });
  after(() => world.close());

  async function check(content: string, at = world) {
    const opened = await at.openShop();
    const { visitor, file } = opened;
    const name = 'a.ndjson.gz';
    const sent = await visitor.upload(file, { name, content: gzipSync(content) });
    assert.equal(sent.status, 303, sent.text);
    return { ...opened, shown: await visitor.get(file) };
  }
  const start = async ({ visitor, file, shown }: Awaited<ReturnType<typeof check>>) =>
    assert.equal((await pressImport(visitor, file, shown)).location, file);
  const planCount = async ({ id }: { readonly id: number }) => {
    const [row] = await world.store.write<{ count: number }[]>`
      select count(*)::int as count from plans where shop_id = ${id}`;
    return row?.count ?? 0;
  };

  test('has a record with 1.3 million lines: that alone is refused, mapped or not', async (t) => {
    const roomy = await startUploads(world.store, { heapMegabytes: 256 });
    t.after(() => roomy.service.close());
    const record = JSON.stringify(subscription(2)).replace(/"lines":.*/, `"lines":[${endless}]}\n`);
    for (const [content, reason] of [
      [ndjson([plan, subscription(1)]) + record, /lines must have at most (?:250|…) entries/],
      [
        ofStripe(1, item) + ofStripe(2, item) + ofStripe(3, endless),
        /column items\.data must have at most (?:10000|…) entries/,
      ],
    ] as const) {
      const checked = await check(content, roomy);
      assert.match(plain(checked.shown.text), /records? would be refused .* subscription \S+ 3 /);
      assert.match(plain(checked.shown.text), reason);
      await start(checked);
      const result = plain((await resultOf(checked.visitor, checked.file)).text);
      assert.match(result, reason);
      assert.match(result, /Subscriptions [12] 0 0 0 0 1/);
    }
  });

  test('has column names that no page could show: it is refused', async () => {
    const { visitor, file } = await world.openShop();
    const row = (cell: (index: number) => string) => Array.from({ length: 60 }, (_, i) => cell(i));
    const lines = [
      row((index) => `c${index}${'x'.repeat(30_000)}`),
      ...Array.from({ length: 20 }, (_, line) => row((index) => `k${line}${index}`)),
    ];
    const content = gzipSync(lines.join('\n'));
    await visitor.upload(file, { name: 'a.csv', content });
    const shown = await visitor.get(file);
    assert.equal(shown.status, 422);
    assert.match(plain(shown.text), /a\.csv has column names or values that are too long to be/);
  });

  test('needs too much memory to be looked at: it is refused, and removed', async () => {
    const { shown, shop } = await check(
      `${ndjson([plan, plan])}{"type":"plan","note":[${endless}]}`,
    );
    assert.equal(shown.status, 422);
    assert.match(plain(shown.text), /a\.ndjson\.gz needs more memory than one file may take\./);
    assert.deepEqual(world.filesOf(shop), []);
  });

  test('needs too much memory in the middle: its import fails, and nothing else does', async () => {
    const plans = Array.from({ length: 2000 }, (_, index) => ({ ...plan, id: index + 1 }));
    // No more than 20,000 lines are looked at before.
    const content = `${ndjson(plans)}${'{"type":"plan"}\n'.repeat(18_500)}{"note":[${endless}]}\n`;
    const failing = await check(content);
    const other = await check(ndjson([plan, subscription(1)]));
    await start(failing);
    await start(other);
    const otherResult = plain((await resultOf(other.visitor, other.file)).text);
    assert.match(otherResult, /Subscriptions 1 0 0 0 0 0/);

    const result = plain((await resultOf(failing.visitor, failing.file)).text);
    const [, imported = '0'] =
      /Import failed a\.ndjson\.gz needs more memory than one file may take\. Split it .* ([\d,]+) records are imported, the others are not\./.exec(
        result,
      ) ?? [];
    const count = Number(imported.replace(',', ''));
    // The second thousand was perhaps not committed yet.
    assert.ok(count === 1000 || count === 2000, result);
    assert.ok((await planCount(failing.shop)) >= count);
    // The shop's turn is over.
    const { visitor, file } = failing;
    await visitor.upload(file, { name: 'b.ndjson', content: ndjson([plan, subscription(1)]) });
    await pressImport(visitor, file, await visitor.get(file));
    assert.match(plain((await resultOf(visitor, file)).text), /Subscriptions 1 0 0 0 0 0/);
  });

  test('unpacks to more than it may: its import fails with what is stored by then', async () => {
    const small = await startUploads(world.store, { maxBytes: 200_000 });
    const checked = await check(ndjson([plan, subscription(1)]) + '\n'.repeat(4_000_000), small);
    await start(checked);
    const result = plain((await resultOf(checked.visitor, checked.file)).text);
    assert.match(
      result,
      /Import failed a\.ndjson\.gz unpacks to more than 3200000 bytes\. Split it into smaller files\. 0 records are imported/,
    );
    await small.service.close();
  });
});
