import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { toCohorts, listMonths } from '../../src/metrics/cohorts.ts';
import { retentionByCohort } from '../../src/metrics/retention.ts';
import { cohortsFromRecords } from '../../src/metrics/segments/periods.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, now, startWorld } from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { addMany } from './many-subscriptions.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

/** Customers of a month, by default ten; all but some leave on the first day of the month after the next. */
const cohort = (month: number, kept: number, size = 10) =>
  Array.from({ length: size }, (_, index) => {
    const id = month * 100 + index;
    const at = (of: number) => `2026-${String(of).padStart(2, '0')}-01T12:00:00Z`;
    return subscription(id, {
      customerId: id,
      createdAt: at(month),
      ...(index >= kept && {
        status: 'cancelled',
        statusEvents: [{ at: at(month + 2), to: 'cancelled' }],
      }),
    });
  });

onOneDatabase('the pages of cohorts', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open());
    const records = [plan(), plan({ id: 12, name: 'Tea' }), ...cohort(2, 5), ...cohort(3, 6)];
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}/cohorts`;
  });
  after(() => world.close());

  const words = (markup: string) =>
    markup
      .replaceAll(/<\/?t[dhr]\b[^>]*>/g, ' ')
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ');

  test('say which of two cohorts is better', async () => {
    const shown = words((await visitor.get(home)).text);
    assert.match(
      shown,
      /March 2026 kept 6 of 10 customers after 7 months, February 2026 5 of 10\. Of 10 and 10 customers, that may be chance\./,
    );
    const { text: ofRevenue } = await visitor.get(`${home}?a=2026-02&b=2026-03&of=revenue`);
    assert.match(ofRevenue, /class="change neutral"/);
    assert.match(
      words(ofRevenue),
      /February 2026 kept 50.0% of its first MRR after 7 months: 10 points less than March 2026, with 60.0%\./,
    );
    assert.match(shown, /Mar 2026 10 10 of 10 10 of 10( 6 of 10){7} so far/);
    assert.match(shown, /Average 20 of 20 20 of 20 11 of 20/);
  });

  test('judge cohorts by the rule of the overview', async () => {
    const answerOf = async (records: readonly object[]) => {
      const shop = await createShop(world.store);
      await importAll(world.store, shop, [plan(), ...records]);
      const { visitor: owner } = await signedInOwner({ ...world, shop });
      const { text } = await owner.get(`/app/shops/${shop.id}/cohorts`);
      const [, markup = ''] = /<p class="answer">(.*?)<\/p>/s.exec(text) ?? [];
      return [words(markup).trim(), /class="change (\w+)"/.exec(markup)?.[1]];
    };
    assert.deepEqual(await answerOf([...cohort(2, 3, 9), ...cohort(3, 0, 5)]), [
      'March 2026 kept 0 of 5 customers after 7 months, February 2026 3 of 9. March 2026 has only 5 customers, and February 2026 has only 9 customers: too few to say which is better.',
      undefined,
    ]);
    assert.deepEqual(await answerOf([...cohort(2, 1, 1), ...cohort(3, 1, 2)]), [
      'March 2026 kept 1 of 2 customers after 7 months, February 2026 1 of 1. March 2026 has only 2 customers, and February 2026 has only 1 customer: too few to say which is better.',
      undefined,
    ]);
    assert.deepEqual(await answerOf([...cohort(2, 12, 12), ...cohort(3, 2, 9)]), [
      'March 2026 kept 2 of 9 customers after 7 months, February 2026 12 of 12. March 2026 has only 9 customers: too few to say which is better.',
      undefined,
    ]);
    assert.deepEqual(await answerOf([...cohort(2, 2), ...cohort(3, 9)]), [
      'March 2026 kept 9 of 10 customers after 7 months: 70 points more than February 2026, with 2 of 10.',
      'better',
    ]);
  });

  test('say if a chosen month cannot be compared, and what is compared instead', async () => {
    const see = async (query: string) => {
      const { text } = await visitor.get(home + query);
      const [, alert = ''] = /role="alert">(.*?)<\/p>/s.exec(text) ?? [];
      const options = [...text.matchAll(/<option\s([^>]*)>([^<]*)/g)];
      const having = (word: string) =>
        options.flatMap(([, attributes = '', label = '']) =>
          attributes.includes(word) ? [label.trim()] : [],
        );
      return {
        alert: words(alert).trim(),
        disabled: having('disabled'),
        selected: having('selected'),
      };
    };
    assert.equal((await see('')).alert, '');
    assert.deepEqual(await see('?a=2026-02&b=2026-03'), {
      alert: '',
      disabled: [],
      selected: ['Feb 2026', 'Mar 2026'],
    });
    const instead = 'This compares March 2026 with February 2026.';
    for (const [query, alert, selected] of [
      ['?a=2026-03&b=2026-03', 'March 2026 cannot be compared: it is chosen twice.', ['Mar 2026']],
      ['?a=zzz', '“zzz” is not a month. Write one as in 2026-03.', []],
      ['?b=2020-01', 'January 2020 cannot be compared: no cohort of that month is shown.', []],
    ] as const) {
      assert.deepEqual(await see(query), { alert: `${alert} ${instead}`, disabled: [], selected });
    }

    const shop = await createShop(world.store);
    await importAll(world.store, shop, [
      plan(),
      ...cohort(7, 8),
      ...cohort(8, 7),
      ...cohort(10, 9),
    ]);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const { text } = await owner.get(`/app/shops/${shop.id}/cohorts?a=2026-10&b=2026-08`);
    assert.match(
      words(text),
      /October 2026 cannot be compared: no later month is over yet\. This compares July 2026 with August 2026\./,
    );
    // The one before July is not there.
    assert.match(text, /<option value="2026-07" selected>.*<option value="2026-08" selected>/s);
    for (const query of ['', '?a=2026-11&b=2026-10']) {
      const usual = await owner.get(`/app/shops/${shop.id}/cohorts${query}`);
      assert.match(
        words(usual.text),
        /August 2026 kept 7 of 10 customers after 2 months, July 2026/,
      );
      assert.doesNotMatch(usual.text, /<option[^>]* selected/);
    }
    assert.match(text, /<option value="2026-10" disabled>Oct 2026 \(no later month is over yet\)</);
  });

  test('are those of a plan, if one is chosen', async () => {
    const { text } = await visitor.get(`${home}?plan=12`);
    assert.match(text, /No subscription of this segment began in these months/);
    assert.match(words((await visitor.get(`${home}?plan=11`)).text), /March 2026 kept 6 of 10/);
    assert.match(
      words((await visitor.get(`${home}?plan=11&of=gross`)).text),
      /Gross revenue is not known for segments\. This is net revenue\./,
    );
  });

  test('say which customers a value counts', async () => {
    const list = async (query: string) =>
      words((await visitor.get(`${home}/2026-03/customers${query}`)).text);
    assert.match(
      await list(''),
      /Customers whose first subscription began in March 2026 \(UTC\)\./,
    );
    assert.match(
      await list('?kept=2&plan=11'),
      /first subscription of Monthly box began in March 2026 \(UTC\) and of whose subscriptions one was active or paused at the end of month 2 since\./,
    );
    assert.match(await list('?kept=8'), /active or paused in this month, so far\./);
    assert.match(await list('?kept=8'), /305 305 Monthly box \$30\.60 Active Mar 1, 2026/);
    assert.doesNotMatch(await list('?kept=8'), / 306 306 /);
    // Four of ten left in the second month, as the page says where to see.
    const { text } = await visitor.get(`${home}?a=2026-03&b=2026-02`);
    const [, gone = ''] = /href="[^"]*(\/2026-03\/customers\?kept=0[^"]*)"/.exec(text) ?? [];
    assert.equal(gone, '/2026-03/customers?kept=0&amp;gone=7');
    const who = await visitor.get(`${home}${gone.replace('&amp;', '&')}`);
    assert.match(
      words(who.text),
      /active or paused at the end of month 0 since, and none at the end of month 7\./,
    );
    // The others show everyone again.
    assert.deepEqual(
      [...who.text.matchAll(/<a href="[^"?]*customers([^"]*)"[^>]*>((?:All|Kept)[^<]*)</g)].map(
        ([, query, label]) => [label, query],
      ),
      [
        ['All', ''],
        ['Kept in month 0, gone in month 7', '?kept=0&amp;gone=7'],
        ['Kept now', '?kept=8'],
      ],
    );
    assert.deepEqual(
      [
        ...new Set([...who.text.matchAll(/\/customers\/(\d+)"/g)].map(([, id]) => Number(id))),
      ].toSorted(),
      [306, 307, 308, 309],
    );
  });

  test('name what is wrong with an address of customers', async () => {
    for (const [path, status, message] of [
      [
        '2026-03/customers?kept=9',
        400,
        '“9” is not a month since the cohort’s own. Choose one from 0 to 8.',
      ],
      ['2026-03/customers?kept=0&gone=x', 400, '“x” is not a month since the cohort’s own.'],
      ['2026-03/customers?plan=x', 400, '“x” is not a plan number. Choose one of the plans.'],
      ['2026-03/customers?cursor=x', 400, 'This address continues another list'],
      ['2026-03/customers?kept=8&order=highest', 200, 'Sorting by worth goes by'],
      // Their value is that of then, and only that of now is kept.
      [
        '2026-03/customers?kept=7&order=highest',
        400,
        '“highest” is not an order. Choose newest or oldest.',
      ],
      [
        '2026-03/customers?plan=11&order=highest',
        400,
        '“highest” is not an order. Choose newest or oldest.',
      ],
      ['2026-12/customers', 404, 'This page does not exist'],
      ['2026-13/customers', 404, 'This page does not exist'],
      ['2026-12/customers.csv', 404, 'This page does not exist'],
    ] as const) {
      const page = await visitor.get(`${home}/${path}`);
      assert.equal(page.status, status, path);
      assert.ok(words(page.text).includes(message), path);
    }
  });

  test('say that gross revenue is not shown for very many subscriptions', async () => {
    const shop = await createShop(world.store);
    await importAll(world.store, shop, [plan(), ...cohort(2, 5)]);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const path = `/app/shops/${shop.id}/cohorts?of=gross`;
    assert.equal((await owner.get(path)).status, 200);
    await addMany(world.store, shop.id, 200);
    const { status, text } = await owner.get(path);
    assert.equal(status, 400);
    assert.match(
      words(text),
      /Gross revenue is not shown for more than 100,000 subscriptions\. Choose net revenue\./,
    );
  });

  test('explain an empty shop', async () => {
    const shop = await createShop(world.store);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    assert.match((await owner.get(`/app/shops/${shop.id}/cohorts`)).text, /No data yet/);
    const file = await owner.get(`/app/shops/${shop.id}/cohorts.csv`);
    assert.deepEqual(csvRows(file.text), []);
  });

  for (const [currency, minorDigits] of [
    ['JPY', 0],
    ['KWD', 3],
  ] as const) {
    test(`equal the records in ${currency}, and lead to as many customers as they count`, async () => {
      const shop = await createShop(world.store, { currency });
      const generated = { subscriptions: 300, seed: 5, currency, minorDigits };
      const endAt = Date.parse(now);
      await importAll(world.store, shop, [...generateShop({ ...generated, endAt })]);
      const { visitor: owner } = await signedInOwner({ ...world, shop });
      const path = `/app/shops/${shop.id}/cohorts`;
      const options = { months: 36, now: endAt };
      const plain = toCohorts(
        await cohortsFromRecords(world.store.write, shop.id, options),
        listMonths(options),
        currency,
      );
      const served = csvRows((await owner.get(`${path}.csv?months=36`)).text);
      assert.deepEqual(
        served.map((row) => [row['Cohort'], row['Customers'], row['Kept'], row['MRR']]),
        plain.flatMap(({ month, customers, retained, mrr }) =>
          retained.map((kept, since) => [month, customers, kept, mrr[since]].map(String)),
        ),
      );
      const gross = csvRows((await owner.get(`${path}.csv?months=36&of=gross`)).text);
      const ends = listMonths(options).map(({ end }) => Date.parse(end));
      const own = listMonths(options).findIndex(({ month }) => month === plain.at(-5)?.month);
      const { month: fifth = '' } = plain.at(-5) ?? {};
      const shares = gross
        .filter((row) => row['Cohort'] === fifth)
        .map((row) => Number(row['Share of first MRR, gross']));
      assert.equal(shares.length, 5);
      const { analyse } = world.store.primary;
      for (const [since, share] of shares.entries()) {
        const period = { from: ends[own] ?? 0, until: ends[own + since] ?? 0 };
        const all = await retentionByCohort(analyse, { ...shop, currency }, period);
        const kept = all.find(({ month }) => month === fifth)?.gross ?? 0;
        assert.ok(Math.abs(share - kept) < 0.0002, `${fifth} + ${since}: ${share}, not ${kept}`);
      }
      assert.ok((shares[4] ?? 1) < 1, 'some of it was lost');
      for (const { month, customers, retained, mrr } of plain.slice(-4)) {
        const list = async (query: string) =>
          csvRows((await owner.get(`${path}/${month}/customers.csv${query}`)).text).length;
        assert.equal(await list(''), customers, month);
        for (const [since, kept] of retained.entries()) {
          assert.equal(await list(`?kept=${since}`), kept, `${month} + ${since}`);
        }
        const values = csvRows((await owner.get(`${path}/${month}/customers.csv?kept=0`)).text);
        const sum = values.reduce((total, row) => total + Number(row['Value']), 0);
        assert.ok(Math.abs(sum - (mrr[0] ?? 0)) < values.length, `${sum}, not ${mrr[0]}`);
      }
    });
  }
});
