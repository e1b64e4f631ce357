import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  beginShopifySync,
  completeShopifySync,
} from '../../../src/platforms/shopify/store/syncs.ts';
import { findRecord } from '../../../src/platforms/source-ids.ts';
import { world as stripeWorld } from '../../feeds/mapping/stripe/cases.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { plain, withoutTokens } from '../page-text.ts';
import type { Visitor } from '../visitor.ts';
import {
  ndjson,
  plan,
  chooseColumns,
  pressImport,
  questionsOf,
  resultOf,
  type Uploads,
  startUploads,
  subscription,
  uploadIdOf,
  usesOf,
} from './upload-world.ts';

const stripeExport = readFileSync(
  new URL('../../feeds/mapping/stripe-subscriptions.csv', import.meta.url),
);
/** A table whose columns leave open how often the price is charged, and in which order dates are. */
const table = [
  'Kunde;Beginn;Betrag;Zustand',
  'K1;03.04.2024;10,00;aktiv',
  'K2;05.06.2024;20,00;aktiv',
  'K3;07.08.2024;30,50;gekündigt',
  'K4;09.10.2024;40,00;ruht gerade',
  ...Array.from({ length: 20 }, (_, index) => `K${index + 5};01.02.2024;1,${index + 10};aktiv`),
  'K25;09.10.2024;viel;aktiv',
].join('\n');

onOneDatabase('a file uploaded on the page Sources', (open) => {
  let world: Uploads;
  before(async () => {
    world = await startUploads(open());
  });
  after(() => world.close());

  async function upload(visitor: Visitor, file: string, name: string, content: string | Buffer) {
    const sent = await visitor.upload(file, { name, content });
    assert.deepEqual([sent.status, sent.location], [303, file], sent.text);
    return visitor.get(file);
  }

  test('is a known export: it needs no answers', async () => {
    const { visitor, file } = await world.openShop();
    const shown = await upload(visitor, file, 'stripe.csv', stripeExport);
    assert.match(plain(shown.text), /Read as Subscriptions as exported by the Stripe Dashboard/);
    assert.deepEqual(questionsOf(shown), {});
    assert.match(plain(shown.text), /The file has 3 subscriptions of 3 customers on 2 plans/);
    assert.match(plain((await visitor.get(file.replace('/file', ''))).text), /Waiting for you/);
    assert.equal((await pressImport(visitor, file, shown)).location, file);
    const result = plain((await resultOf(visitor, file)).text);
    assert.match(result, /The file was imported, and deleted from the server\. stripe\.csv/);
    assert.match(result, /Subscriptions 3 0 0 0 0 0/);
    assert.match(plain((await visitor.get(file.replace('/file', ''))).text), /Imported/);
    // The 3 subscriptions and their 2 plans, on the time axis of charts.
    const overview = await visitor.get(file.replace('/sources/file', '?table=open'));
    assert.match(plain(overview.text), /Noted .*Imported: 5 records/);
  });

  test('leaves prices out: its records are stored, and the result says so', async () => {
    const { visitor, file } = await world.openShop();
    const data = ['tiered-without-tiers', 'discount-bare-id'].map(
      (name) => stripeWorld.find((each) => each.case === name)?.subscription,
    );
    const list = { object: 'list', data };
    const shown = await upload(visitor, file, 'list.json', JSON.stringify(list));
    assert.equal((await pressImport(visitor, file, shown)).location, file);
    const result = plain((await resultOf(visitor, file)).text);
    assert.match(result, /Subscriptions 2 0 0 0 0 0/);
    assert.match(result, /What the file leaves out These records were stored nevertheless\./);
    assert.match(result, /subscription: price has tiers that are not in the data \(.+?\); .+? 1 1/);
    assert.match(result, /subscription: price has a discount that is not in the data/);
    assert.doesNotMatch(result, /refused\.csv|World/);
  });

  test('may know customers by e-mail addresses, which no page shows and nothing keeps', async () => {
    const { shop, visitor, file } = await world.openShop();
    const content = stripeExport.toString('utf8').replaceAll(/cus_\w+/g, 'planted@example.com');
    const shown = await upload(visitor, file, 'stripe.csv', content);
    assert.match(plain(shown.text), /The file has 3 subscriptions of 1 customer on 2 plans/);
    assert.equal((await pressImport(visitor, file, shown)).location, file);
    const result = await resultOf(visitor, file);
    assert.match(plain(result.text), /Subscriptions 3 0 0 0 0 0/);
    const found = await findRecord(world.store.write, shop.id, 'customer', 'Planted@example.com');
    const { text } = await visitor.get(`/app/shops/${shop.id}/subscriptions?customer=${found?.id}`);
    assert.match(plain(text), /price_gold/);
    const [notes] = await world.store.write<{ text: string }[]>`
      select u::text as text from ingest.uploads u where shop_id = ${shop.id}`;
    for (const each of [shown.text, result.text, text, notes?.text ?? '']) {
      assert.doesNotMatch(each, /planted/i);
    }
  });

  test('is a table: what it leaves open is asked, and the preview follows the answers', async () => {
    const { visitor, file } = await world.openShop({ currency: 'EUR' });
    const shown = await upload(visitor, file, 'kunden.csv', table);
    assert.deepEqual(questionsOf(shown), {
      'meaning:ruht gerade': '',
      interval: 'month:1',
      order: 'day',
    });
    assert.match(
      plain(shown.text),
      /The file has 23 subscriptions .*: 22 active, 1 cancelled\. MRR would be €53\.90/,
    );
    assert.match(
      plain(shown.text),
      /2 records would be refused .* column Zustand: its value is not in its table/,
    );
    assert.match(plain(shown.text), / column Betrag: its value must be an amount/);
    assert.match(plain(shown.text), /4 K3 cancelled 2024-08-07 – 30\.50 month Subscription/);
    assert.match(
      plain(shown.text),
      /A cancellation counts on the day of the first file that has it\./,
    );

    const answers = {
      'q:meaning:ruht gerade': 'paused',
      'q:interval': 'year:1',
      'q:order': 'month',
    };
    const changed = await pressImport(visitor, file, shown, answers);
    assert.equal(changed.status, 200);
    assert.match(plain(changed.text), /You changed an answer\. Check the preview, then import/);
    assert.match(plain(changed.text), /22 active, 1 cancelled, 1 paused\. MRR would be €4\.49/);
    assert.match(plain(changed.text), /4 K3 cancelled 2024-07-08 –/);
    assert.deepEqual(Object.values(questionsOf(changed)), ['paused', 'year:1', 'month']);

    assert.equal((await pressImport(visitor, file, changed)).location, file);
    const result = await resultOf(visitor, file);
    assert.match(plain(result.text), /Subscriptions 24 0 0 0 0 1/);
    assert.match(plain(result.text), /1 record was refused/);
    assert.match(
      plain(result.text),
      /column Betrag: its value must be an amount.* 1 subscription K25 26/,
    );
    // The file does not say since when, on this page and on Sources.
    const undated = /2 subscriptions have ended or paused, but the data does not say when\./;
    assert.match(plain(result.text), undated);
    assert.match(plain((await visitor.get(file.replace('/file', ''))).text), undated);
    const csv = await visitor.get(`${file}/refused.csv`);
    assert.match(
      csv.text,
      /^line,record,reason\r\n26,subscription K25,"column Betrag: its value must be an amount[^"]*"\r\n$/,
    );
    assert.match(csv.headers.get('content-disposition') ?? '', /attachment/);
  });

  test('says what its amounts are in, and how to change it', async () => {
    const { visitor, file } = await world.openShop({ currency: 'EUR' });
    const amountsOf = async (header: string, row: string) => {
      const rows = Array.from({ length: 5 }, (_, index) => `K${index},2024-05-2${index},${row}`);
      const content = [`customer,start,status,monthly price${header}`, ...rows].join('\n');
      const shown = await upload(visitor, file, 'prices.csv', content);
      return /Amounts (In EUR.*?) (?:Columns|What would be stored)/.exec(plain(shown.text))?.[1];
    };
    assert.equal(
      await amountsOf('', 'active,9.99'),
      'In EUR, the shop’s currency: the file names none. If they are in another, convert them before you upload the file.',
    );
    assert.equal(await amountsOf('', 'active,€9.99'), 'In EUR');
    assert.equal(await amountsOf(',currency', 'active,9.99,EUR'), 'In EUR');
    assert.equal(
      await amountsOf(',currency', 'active,9.99,USD'),
      'In EUR, the shop’s currency. Amounts in USD do not count: such a subscription is stored at price 0, or its row is refused. Convert them before you upload the file.',
    );
  });

  test('has columns that were not recognised: they can be chosen', async () => {
    const { visitor, file } = await world.openShop();
    const rows = ['wer;was;wann;wieviel', 'a1;aktiv;2024-01-02;1.50', 'b2;gekündigt;2024-01-03;x'];
    const shown = await upload(visitor, file, 'liste.csv', rows.join('\n'));
    assert.deepEqual(usesOf(shown), { wer: 'customer', was: 'status', wann: 'start', wieviel: '' });
    assert.match(plain(shown.text), /Needed and not found: Price\./);
    const risks = (page: { text: string }) =>
      [...page.text.matchAll(/<(p|div) class="notice risk" role="status">(.*?)<\/\1>/gs)].map(
        ([, , each = '']) => plain(each),
      );
    assert.equal(
      risks(shown)[1],
      'All subscriptions would be stored at price 0, without MRR: no column was found that says it. Check before you import: Neither price nor plan nor interval: is a row a subscription? No column says how often the price is charged; each month is a guess. “wer” is taken because each value occurs once. “was” is taken for the status. “wann” is taken for when the subscription began.',
    );
    const answers = { ...chooseColumns(shown, { wieviel: 'price' }), 'q:interval': 'month:3' };
    const changed = await pressImport(visitor, file, shown, answers);
    assert.match(plain(changed.text), /1 active\. MRR would be \$0\.50/);
    assert.match(plain(changed.text), /1 record would be refused .* column wieviel/);
    const sums = (page: typeof shown) =>
      risks(page).map((text) => text.split(' Check before you import: ', 1)[0]);
    assert.deepEqual(sums(changed), ['1 record will be refused; the others are imported.']);
    const none = await pressImport(
      visitor,
      file,
      changed,
      chooseColumns(changed, { was: '', wieviel: '' }),
    );
    assert.match(plain(none.text), /2 active\. MRR would be \$0\.00/);
    assert.match(plain(none.text), /Needed and not found: Status or End, Price\./);
    assert.equal(
      sums(none)[1],
      'All subscriptions would be stored as active and at price 0, without MRR: no column was found that says it.',
    );
    const undated = await pressImport(visitor, file, none, chooseColumns(none, { wann: '' }));
    assert.equal(
      sums(undated)[1],
      'All subscriptions would be stored as active, as begun on January 1 of last year, and at price 0, without MRR: no column was found that says it.',
    );
    const twice = await pressImport(
      visitor,
      file,
      undated,
      chooseColumns(undated, { was: 'plan', wer: 'plan' }),
    );
    assert.equal(twice.status, 422);
    assert.match(plain(twice.text), /Two columns are chosen for Plan\. Choose one\./);
    const sparse = [
      'Subscription ID,Customer,Plan,Status,Start date,Price,Interval',
      'A-1,c1,Box,active,2026-01-05,19.90,month',
      'A-2,c2,Box,active,,19.90,month',
      'A-3,c3,Box,active,2026-03-05,19.90,month',
    ];
    assert.deepEqual(risks(await upload(visitor, file, 'sparse.csv', sparse.join('\n'))), [
      'Check before you import: “Start date” is taken for when the subscription began. Rows without “Start date” (1 of those read) are given 2025-01-01.',
    ]);
  });

  test('has no column that was recognised: all of them can be chosen, and nothing is imported before', async () => {
    const { visitor, file } = await world.openShop();
    const rows = ['aa|bb|cc|dd', 'k1|30|on|9.50', 'k2|5|off|8.50', 'k3|7|on|7.50'];
    const shown = await upload(visitor, file, 'unknown.csv', rows.join('\n'));
    assert.match(plain(shown.text), /No column was recognised as .* Say which columns they are\./);
    assert.doesNotMatch(plain(shown.text), /docs\//);
    assert.doesNotMatch(shown.text, /value="import"/);
    assert.deepEqual(usesOf(shown), { aa: 'customer', bb: '', cc: '', dd: '' });
    const columns = chooseColumns(shown, { cc: 'status', dd: 'price', bb: 'start' });
    const answer = (page: typeof shown, fields: Record<string, string>) =>
      visitor.post(`${file}/answers`, {
        ...Object.fromEntries(
          Object.entries(questionsOf(page)).map(([id, value]) => [`q:${id}`, value]),
        ),
        ...fields,
        upload: uploadIdOf(page),
        action: 'preview',
      });
    assert.equal((await answer(shown, columns)).location, file);
    const asked = await visitor.get(file);
    assert.match(plain(asked.text), /When was the file exported\?/);
    const meanings = { 'q:meaning:on': 'active', 'q:meaning:off': 'cancelled' };
    const sure = { ...meanings, 'q:tenure': 'week', 'as-of': '2026-03-01' };
    assert.equal((await answer(asked, sure)).location, file);
    const seen = await visitor.get(file);
    assert.match(plain(seen.text), /: 2 active, 1 cancelled\. MRR would be \$17\.00/);
    const begun = await pressImport(visitor, file, seen, { 'as-of': '2026-03-01' });
    assert.equal(begun.location, file);
    assert.match(plain((await resultOf(visitor, file)).text), /Subscriptions 3 0 0 0 0 0/);
  });

  test('was corrected: the next one with the same headings is taken alike, until that is forgotten', async () => {
    const { visitor, file } = await world.openShop();
    const rows = ['wer;was;wann;wieviel', 'a1;aktiv;2024-01-02;1.50', 'b2;gekündigt;2024-01-03;2'];
    const shown = await upload(visitor, file, 'liste.csv', rows.join('\n'));
    const corrected = { wer: 'customer', was: 'status', wann: 'ended', wieviel: 'price' };
    const changed = await pressImport(visitor, file, shown, chooseColumns(shown, corrected));
    assert.deepEqual(usesOf(changed), corrected);
    assert.doesNotMatch(plain(changed.text), /as you said last time/);
    assert.equal((await pressImport(visitor, file, changed)).location, file);
    await resultOf(visitor, file);

    // The same headings in another order, but not others.
    const next = ['was;wer;wann;wieviel', 'aktiv;a1;2024-01-02;1.50', 'aktiv;c3;2024-01-04;3'];
    const again = await upload(visitor, file, 'next.csv', next.join('\n'));
    assert.match(plain(again.text), /The columns are taken as you said last time/);
    assert.deepEqual(usesOf(again), corrected);
    const forgotten = await visitor.post(`${file}/forget`, { upload: uploadIdOf(again) });
    assert.equal(forgotten.location, file);
    const guessed = await visitor.get(file);
    assert.doesNotMatch(plain(guessed.text), /as you said last time/);
    assert.equal(usesOf(guessed)['wann'], 'start');
    const other = await upload(visitor, file, 'more.csv', rows.join('\n').replace('was', 'stand'));
    assert.doesNotMatch(plain(other.text), /as you said last time/);
  });

  test('would be refused whole: it cannot be imported', async () => {
    const { visitor, file } = await world.openShop();
    const records = [1, 2].map((id) => ({ ...subscription(id), status: 'gone' }));
    const shown = await upload(visitor, file, 'records.ndjson', ndjson(records));
    assert.match(plain(shown.text), /All rows would be refused, so there is nothing to import yet/);
    assert.match(plain(shown.text), / 2 subscription 1 1 /);
    assert.doesNotMatch(shown.text, /value="import"/);
  });

  test('has relative dates: its date is asked', async () => {
    const { visitor, file } = await world.openShop();
    const rows = ['customerID,tenure,MonthlyCharges,Churn', 'A-1,5,29.85,No', 'B-2,12,56.95,Yes'];
    const shown = await upload(visitor, file, 'churn.csv', rows.join('\n'));
    assert.match(plain(shown.text), /When was the file exported\?/);
    for (const day of ['', '2999-01-01', '2024-02-31']) {
      const refused = await pressImport(visitor, file, shown, { 'as-of': day });
      assert.equal(refused.status, 422, day);
      assert.match(plain(refused.text), /Give the day on which the file was exported/);
    }
    const dated = await pressImport(visitor, file, shown, { 'as-of': '2024-03-01' });
    assert.match(plain(dated.text), /You changed an answer.*A-1 active 2023-10-01/);
    const begun = await pressImport(visitor, file, dated, { 'as-of': '2024-03-01' });
    assert.equal(begun.location, file);
    assert.match(plain((await resultOf(visitor, file)).text), /Subscriptions 2 0 0 0 0 0/);
  });

  test('has import records: one a line, as a list, or compressed', async () => {
    const { shop, visitor, file } = await world.openShop();
    const records = [plan, subscription(1), subscription(2), subscription(3, 99)];
    const broken = `${ndjson(records)}{"type":"subscription"\n{"type":"payment","id":1}\n`;
    const shown = await upload(visitor, file, 'records.ndjson', broken);
    assert.match(plain(shown.text), /Read as Import records/);
    assert.match(plain(shown.text), /2 records would be refused .* The line is not JSON 1 – 5/i);
    await pressImport(visitor, file, shown);
    const result = plain((await resultOf(visitor, file)).text);
    assert.match(result, /Plans 1 0 0 0 0 0/);
    assert.match(result, /Subscriptions 2 0 0 0 0 1/);
    assert.match(result, /3 records were refused/);
    for (const [name, content] of [
      ['list.json', JSON.stringify(records.slice(0, 3))],
      ['records.ndjson.gz', gzipSync(ndjson(records.slice(0, 3)))],
    ] as const) {
      const again = await upload(visitor, file, name, content);
      assert.match(plain(again.text), /Nothing would be refused/);
      await pressImport(visitor, file, again);
      assert.match(plain((await resultOf(visitor, file)).text), /Subscriptions 0 0 2 0 0 0/, name);
    }
    assert.deepEqual(world.filesOf(shop), []);
  });

  test('of a shop that Shopify keeps up is imported only if the owner says so', async () => {
    const { shop, visitor, file } = await world.openShop();
    await beginShopifySync(world.store.write, shop.id, `s${shop.id}.myshopify.com`);
    const at = new Date();
    await completeShopifySync(world.store.write, shop.id, { watermark: at, reconciledAt: at });
    const content = ndjson([plan, subscription(1)]);
    const shown = await upload(visitor, file, 'records.ndjson', content);
    assert.match(plain(shown.text), /2 records of these types in the file will be refused, unless/);
    await pressImport(visitor, file, shown);
    const refused = plain((await resultOf(visitor, file)).text);
    assert.match(refused, /2 records were refused/);
    assert.doesNotMatch(refused, /--take-over/);
    const again = await upload(visitor, file, 'records.ndjson', content);
    await pressImport(visitor, file, again, { 'take-over': 'yes' });
    assert.match(plain((await resultOf(visitor, file)).text), /Subscriptions 1 0 0 0 0 0/);
  });

  test('is replaced by the next one, and a page about the earlier one starts nothing', async () => {
    const { shop, visitor, file } = await world.openShop();
    const first = await upload(visitor, file, 'first.ndjson', ndjson([plan, subscription(1)]));
    const second = await upload(visitor, file, 'second.ndjson', ndjson([plan, subscription(2)]));
    assert.notEqual(uploadIdOf(first), uploadIdOf(second));
    assert.equal(world.filesOf(shop).length, 1);
    await pressImport(visitor, file, first);
    const shown = await visitor.get(file);
    assert.match(plain(shown.text), /Check before importing second\.ndjson/);
    await pressImport(visitor, file, shown);
    const result = await resultOf(visitor, file);
    await pressImport(visitor, file, shown);
    const later = await visitor.get(file);
    assert.equal(withoutTokens(later.text), withoutTokens(result.text));
  });
});
