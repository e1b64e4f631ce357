import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { plain } from '../page-text.ts';
import { type Page, type Visitor, signedInOwner } from '../visitor.ts';
import {
  chooseColumns,
  ndjson,
  pressImport,
  resultOf,
  type Uploads,
  startUploads,
  subscription,
} from './upload-world.ts';

const table = (rows: readonly string[]) =>
  ['customer;plan;start;status;monthly price;discounted price', ...rows].join('\n');
const first = table(['C1;Box;2024-01-13;active;10.00;8.00', 'C2;Box;2024-01-14;active;10.00;8.00']);
/** One is new, one has left, and one cannot be read. */
const second = table([
  'C1;Box;2024-01-13;active;12.00;9.00',
  'C2;Box;2024-01-14;cancelled;10.00;8.00',
  'C3;Box;2024-02-15;active;30.50;20.00',
  'C4;Box;2024-03-99;active;30.00;20.00',
  ...Array.from({ length: 16 }, (_, i) => `D${i};Box;2024-03-${i + 10};paused;10.00;8.00`),
]);

onOneDatabase('the rehearsal of an uploaded file', (open) => {
  let world: Uploads;
  before(async () => {
    world = await startUploads(open(), { heapMegabytes: 256 });
  });
  after(() => world.close());

  /** The page when the rehearsal has ended. */
  async function rehearsed(visitor: Visitor, file: string): Promise<Page> {
    const page = await resultOf(visitor, file);
    assert.match(plain(page.text), /the import Figure Before After/);
    return page;
  }
  const upload = async (visitor: Visitor, file: string, content: string) => {
    assert.equal((await visitor.upload(file, { name: 'abos.csv', content })).location, file);
    return rehearsed(visitor, file);
  };
  const statusesOf = ({ id }: { readonly id: number }) => world.store.write<{ status: string }[]>`
    select status from subscriptions where shop_id = ${id}`;

  test('says how the figures would change, and stores nothing', async () => {
    const { shop, visitor, file } = await world.openShop();
    const shown = await upload(visitor, file, first);
    assert.match(plain(shown.text), /Active subscribers 0 2 .*recurring revenue \$0\.00 \$20\.00/);
    assert.match(plain(shown.text), /Subscriptions 2 0 0 0 0 0/);
    assert.equal((await statusesOf(shop)).length, 0);
    await pressImport(visitor, file, shown);
    const result = plain((await resultOf(visitor, file)).text);
    assert.match(result, /What changed in the figures .*recurring revenue \$0\.00 \$20\.00/);

    const again = await upload(visitor, file, second);
    // 12.00 and 30.50; a price that is higher, a customer who has left, and 17 others.
    const figures =
      /Active subscribers 2 2 Paused subscribers 0 16 .*recurring revenue \$20\.00 \$42\.50/;
    assert.match(plain(again.text), figures);
    assert.match(plain(again.text), /Subscriptions 17 2 0 0 0 1/);
    assert.match(plain(again.text), /1 record would be refused .* 1 subscription C4 5/);
    assert.match(plain(again.text), /All refused lines Line 5, subscription C4: column start/);
    assert.match(plain(again.text), /1 record will be refused; the others are imported\./);
    assert.equal((await statusesOf(shop)).length, 2);
    await pressImport(visitor, file, again);
    const changed = plain((await resultOf(visitor, file)).text);
    assert.match(changed, figures);
    assert.match(changed, /Subscriptions 17 2 0 0 0 1/);
    assert.equal((await statusesOf(shop)).filter(({ status }) => status === 'active').length, 2);
  });

  test('shows no figures of the shop to a role that sees none', async () => {
    const { shop, visitor: owner, file } = await world.openShop();
    await pressImport(owner, file, await upload(owner, file, first));
    await resultOf(owner, file);
    const place = { store: world.store, clock: systemClock, service: world.service, shop };
    const { visitor } = await signedInOwner(place, { role: 'developer' });
    const result = plain((await visitor.get(file)).text);
    await visitor.get(`${file}/new`);
    await visitor.upload(file, { name: 'abos.csv', content: second });
    const rehearsal = plain((await resultOf(visitor, file)).text);
    assert.match(rehearsal, /Subscriptions 17 2 0 0 0 1/);
    for (const text of [result, rehearsal]) {
      assert.match(text, /Your role does not include figures\./);
      assert.doesNotMatch(text, /Active subscribers|\$20\.00/);
    }
  });

  test('begins again with other answers', async () => {
    const { visitor, file } = await world.openShop();
    const shown = await upload(visitor, file, first);
    const columns = chooseColumns(shown, { 'monthly price': '', 'discounted price': 'price' });
    const changed = await pressImport(visitor, file, shown, columns);
    assert.match(plain(changed.text), /The import is being rehearsed in a copy of your shop/);
    const other = await rehearsed(visitor, file);
    assert.match(plain(other.text), /recurring revenue \$0\.00 \$16\.00/);
  });

  test('finds what only the stored data shows: that every record would be refused', async () => {
    const { visitor, file } = await world.openShop();
    const content = ndjson([subscription(1, 99), subscription(2, 99)]);
    await visitor.upload(file, { name: 'records.ndjson', content });
    assert.match(plain((await visitor.get(file)).text), /Nothing would be refused/);
    const shown = await resultOf(visitor, file);
    assert.match(plain(shown.text), /2 records would be refused .* 2 subscription 1 1 /);
    assert.match(plain(shown.text), /All rows would be refused, so there is nothing to import yet/);
    assert.doesNotMatch(shown.text, /value="import"/);
  });
});
