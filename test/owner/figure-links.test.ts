import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { about } from '../metrics/instants.ts';
import { type Random, randomOf } from '../metrics/random.ts';
import { preparePlans, writeSomething } from '../metrics/writers.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { type World, createShop, importAll, now, startWorld } from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { plain } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const { numRuns: worlds, seed: firstSeed } = runs(1);

/** Lists of subscriptions, sessions and dunning cases; each says how many it has. A customer's number counts nothing. */
const list =
  /\/(?:subscriptions|churn\/left|cancel-flow\/sessions|recovery\/(?:open|closed))\?(?!customer=)/;
const pages = [
  ['', 'chart-growth'],
  ['/churn', 'chart-churn'],
  ['/cancel-flow', 'chart-outcomes'],
  ['/recovery', 'recovered'],
] as const;
/** Charts of amounts and shares. */
const uncounted = new Set(['chart-mrr', 'chart-save-rate', 'recovered-amount']);

/** A number on a page, and the address of what it counts. */
interface Link {
  readonly href: string;
  readonly count: number;
}

const numberIn = (text: string) => Number(text.replace(/\D/g, ''));
const cellsOf = (row: string) =>
  [...row.matchAll(/<t[hd]\b[^>]*>(.*?)(?=<\/?t[hd]\b|$)/gs)].map(([, cell = '']) => cell);
const hrefOf = (cell = '') => /href="([^"]*)"/.exec(cell)?.[1]?.replaceAll('&amp;', '&');
const rowsIn = (table: string) =>
  [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) => row);

/** Every count of a page that leads to a list. */
function linksOf(page: string): Link[] {
  const found: (Omit<Link, 'href'> & { readonly href: string | undefined })[] = [];
  for (const [whole] of page.matchAll(/<figure\s+class="chart".*?<\/figure>/gs)) {
    if (uncounted.has(/<h2 id="([^"]*)"/.exec(whole)?.[1] ?? '')) continue;
    const [heads = '', ...rows] = rowsIn(whole);
    const isNow = cellsOf(heads).map((head) => !head.includes(', before'));
    for (const [time, ...values] of rows.map(cellsOf)) {
      const shown = values.filter((_, index) => isNow[index + 1]);
      const sum = shown.reduce((total, each) => total + numberIn(plain(each)), 0);
      found.push({ href: hrefOf(time), count: sum });
      for (const each of shown) found.push({ href: hrefOf(each), count: numberIn(plain(each)) });
    }
  }
  // Each figure of the overview, and of the cancel flow.
  for (const [, name = '', value = ''] of page.matchAll(
    /(<a class="row"(?:(?!<a class="row").)*?)<bdi data-figure="[^"]*">([^<]*)<\/bdi>/gs,
  )) {
    if (/^[\d,]+$/.test(value)) found.push({ href: hrefOf(name), count: numberIn(value) });
  }
  // What explains a change: “2 of 5 now” leads to those who left, or to all that a rate is of.
  for (const [table] of page.matchAll(/<table class="parts[ "].*?<\/table>/gs)) {
    for (const [head, , , , counts = ''] of rowsIn(table).slice(1).map(cellsOf)) {
      const [, n, d] = /([\d,]+) of ([\d,]+)/.exec(plain(counts)) ?? [];
      if (n === undefined || d === undefined) continue;
      found.push({
        href: hrefOf(head),
        count: numberIn(hrefOf(head)?.includes('/churn/left') ? n : d),
      });
    }
  }
  // The save rate of a reason and an offer: “2 of 5”.
  for (const [, href = '', ended = ''] of page.matchAll(
    /<a href="([^"]*)"\s*>(?:(?!<\/a\s*>).)*?<(?:strong|small)>\d+ of (\d+)<\/(?:strong|small)>/gs,
  )) {
    found.push({ href: href.replaceAll('&amp;', '&'), count: Number(ended) });
  }
  // Numbers, also with what they are of.
  for (const [, href = '', text = ''] of page.matchAll(
    /<a\s+href="([^"]*)"[^>]*>\s*([\d,]+)(?: (?!days)[a-z ]+)?\s*</g,
  )) {
    found.push({ href: href.replaceAll('&amp;', '&'), count: numberIn(text) });
  }
  return found.filter((each): each is Link => each.href !== undefined && list.test(each.href));
}

/** The list of a link, and what it is filtered by. */
const kindOf = ({ href }: Link) => href.replaceAll(/=[^&]*/g, '');

/** Some of them, each as likely as any other. */
const someOf = <T>(all: readonly T[], count: number, random: Random): T[] => {
  const rest = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () =>
    rest.splice(random.integer(rest.length), 1),
  ).flat();
};

onOneDatabase('the lists that figures lead to', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
    world.clock.advance(about - Date.parse(now));
  });
  after(() => world.close());

  /** What a list says and has, if it is not what the link to it counts. */
  async function follow(owner: Visitor, { href, count }: Link): Promise<string[]> {
    const page = await owner.get(href, { 'accept-language': 'en-US' });
    assert.equal(page.status, 200, href);
    const said = [...page.text.matchAll(/<strong\s*>([^<]*\d[^<]*)<\/strong\s*>/g)]
      .map(([, text = '']) => text)
      .join(' ');
    const of = (noun: RegExp) => {
      const [, text] = new RegExp(`([\\d,]+) (?:${noun.source})`).exec(said) ?? [];
      return text === undefined ? undefined : numberIn(text);
    };
    const [rows, customers] = [of(/subscription|session|payment/), of(/customer/)];
    const file = csvRows((await owner.get(href.replace('?', '.csv?'))).text);
    const listed = new Set(file.map(({ Customer }) => Customer)).size;
    // Where there is nothing, a card says so in words.
    const isEmpty = said === '' && file.length === 0;
    const isSame =
      (customers ?? rows ?? (isEmpty ? 0 : undefined)) === count &&
      (rows === undefined || file.length === rows) &&
      (customers === undefined || listed === customers);
    return isSame
      ? []
      : [`${href}: counted ${count}, said “${said}”, had ${file.length} of ${listed} customers`];
  }

  async function walk(owner: Visitor, home: string, queries: readonly string[], random: Random) {
    let followed = 0;
    const wrong: string[] = [];
    const shown = (show: string) =>
      queries.map(
        (query) =>
          `${query}&show=${show}&by=${random.oneOf(['plan', 'interval', 'age', 'price'])}&table=open`,
      );
    for (const page of pages.flatMap(([path, show]) => shown(show).map((query) => path + query))) {
      const { text, status } = await owner.get(home + page, { 'accept-language': 'en-US' });
      assert.equal(status, 200, page);
      const links = new Map(linksOf(text).map((each) => [`${each.href} ${each.count}`, each]));
      assert.notEqual(links.size, 0, page);
      for (const alike of Map.groupBy(links.values(), kindOf).values()) {
        const counting = alike.filter(({ count }) => count > 0);
        const chosen = [...someOf(counting, 3, random), ...someOf(alike, 1, random)];
        for (const each of new Set(chosen)) {
          wrong.push(...(await follow(owner, each)));
          followed += 1;
        }
      }
    }
    assert.deepEqual(wrong, []);
    return followed;
  }

  test('have as many rows as each figure, bar and point counts, for any period and segment', async () => {
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const random = randomOf(seed);
      const shop = await createShop(world.store);
      await preparePlans(world.store.write, shop.id);
      for (let batch = 0; batch < 14; batch += 1) {
        await writeSomething(world.store.write, [shop.id], random);
      }
      const { visitor: owner } = await signedInOwner({ ...world, shop });
      const queries = [
        '?compare=year',
        '?days=90&plan=2',
        `?status=${random.oneOf(['active', 'paused', 'cancelled'])}`,
        '?from=2026-10-21&to=2026-11-19',
        `?from=2026-11-08&to=2026-11-1${random.integer(10)}&plan=${1 + random.integer(3)}`,
      ];
      const followed = await walk(owner, `/app/shops/${shop.id}`, queries, random);
      assert.ok(followed > 70, `${followed} links`);
    }
  });

  test('do so in a believable shop, page by page', async () => {
    const shop = await createShop(world.store, { currency: 'JPY' });
    const options = { subscriptions: 250, seed: 5, currency: 'JPY', minorDigits: 0 };
    await importAll(world.store, shop, [...generateShop({ ...options, endAt: about })]);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const queries = ['?days=365', '?from=2026-09-01&to=2026-10-31&status=active'];
    assert.ok((await walk(owner, `/app/shops/${shop.id}`, queries, randomOf(1))) > 80);
  });
});
