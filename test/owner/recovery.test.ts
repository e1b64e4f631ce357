import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, startWorld } from '../support/world.ts';
import { answerOf, plain, rowsOf } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

/** A subscription whose payments fail and succeed on days of November 2026. */
function troubled(
  id: number,
  amount: string,
  payments: readonly (readonly [day: string, code?: string | null])[],
  over: object = {},
): object[] {
  return [
    subscription(id, {
      customerId: 500 + id,
      createdAt: '2026-09-01T00:00:00Z',
      lines: [{ ...line, quantity: 1, currentPrice: amount }],
      ...over,
    }),
    ...payments.map(([on, code], index) => ({
      type: 'payment',
      id: id * 10 + index,
      subscriptionId: id,
      cycle: '1',
      // Without a second entry it is paid.
      status: code === undefined ? 'succeeded' : 'failed',
      ...(code === undefined ? {} : { failureCode: code }),
      amount,
      processedAt: `2026-11-${on}T10:00:00Z`,
    })),
  ];
}

const cancelled = (on: string) => ({
  status: 'cancelled',
  statusEvents: [{ at: `2026-11-${on}T00:00:00Z`, to: 'cancelled' }],
});

/** As of 20 November 2026, 12:00 UTC. */
const records = [
  plan(),
  ...troubled(1001, '20.00', [['10', 'insufficient_funds']], {
    nextBillingDate: '2026-11-24T00:00:00Z',
  }),
  ...troubled(
    1002,
    '5.50',
    [
      ['18', 'R-05'],
      ['19', 'R-05'],
    ],
    { nextBillingDate: '2026-11-18T00:00:00Z' },
  ),
  ...troubled(1003, '100.00', [['15', null]]),
  ...troubled(1004, '30.00', [['02', 'expired_card'], ['04']]),
  ...troubled(1005, '30.00', [['02', 'insufficient_funds'], ['03', 'insufficient_funds'], ['05']]),
  ...troubled(
    1006,
    '40.00',
    [
      ['02', 'expired_card'],
      ['06', 'expired_card'],
    ],
    cancelled('08'),
  ),
];

onOneDatabase('the recovery page', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open(), { currency: 'EUR' });
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}/recovery`;
  });
  after(() => world.close());

  const get = async (path: string, status = 200) => {
    const page = await visitor.get(path, { 'accept-language': 'en-US' });
    assert.equal(page.status, status, path);
    return page.text.replaceAll('\u00A0', ' ');
  };
  /** The rows of a table in the section of this heading. */
  const tableOf = (page: string, id: string) =>
    rowsOf(page.slice(page.indexOf(`<h2 id="${id}"`)).split('</section>', 1)[0] ?? '');
  const linesOf = async (path: string) => (await get(path)).slice(1).split('\r\n').slice(1, -1);

  test('says first what is outstanding and how much came back', async () => {
    const page = await get(home);
    assert.equal(
      answerOf(page),
      '3 payments outstanding now, €125.50. 2 of 3 payments closed in the last 30 days were recovered.',
    );
    assert.match(page, /<h2 id="recovered">.*?2 recovered, 1 lost/s);
    assert.match(page, /class="answer".*Outstanding now.*<figure/s);
    assert.match(
      await get(`${home}?show=recovered-amount`),
      /<h2 id="recovered-amount">.*?€60.00 recovered, €40.00 lost/s,
    );
    assert.deepEqual(tableOf(page, 'recovery-attempts'), [
      ['1st', '1', '2', '1 of 3', '€30.00'],
      ['2nd', '1', '0', '1 of 1', '€30.00'],
      ['3rd', '0', '0', '–', '€0.00'],
      ['4th or later', '0', '0', '–', '€0.00'],
    ]);
    assert.deepEqual(tableOf(page, 'recovery-codes'), [
      ['Card expired expired_card', '1', '1', '1 of 2', '€30.00'],
      ['Insufficient funds insufficient_funds', '1', '0', '1 of 1', '€30.00'],
    ]);
    const earlier = await get(`${home}?from=2026-11-01&to=2026-11-04`);
    assert.match(
      answerOf(earlier),
      /^2 payments outstanding just before Nov 5, 2026, 12:00 AM UTC , €70\.00\./,
    );
    assert.match(plain(earlier), /Outstanding just before .* See those outstanding now/);
    assert.match(answerOf(earlier), /1 of 1 payments closed during Nov 1 – 4, 2026 \(UTC\)/);
    const later = await get(`${home}?from=2026-11-05&to=2026-11-08`);
    assert.match(
      answerOf(later),
      /1 of 2 payments closed .* recovered, too few to judge , 1 of 1 before \( 1 of 1 \) \./,
    );
    assert.match(
      await get(`${home}?from=2026-09-05&to=2026-09-08`),
      /No failed payment was recovered or lost during/,
    );
  });

  test('lists what is outstanding by age or amount, by code, with links', async () => {
    const rows = async (query: string) => rowsOf(await get(`${home}/open${query}`));
    assert.deepEqual(await rows(''), [
      [
        '1003',
        '1503',
        'No code given',
        '€100.00',
        '2 of 3 €66.67',
        'Mark',
        '1 failed',
        '5 days ago',
        'Unknown',
      ],
      [
        '1001',
        '1501',
        'Insufficient funds',
        '€20.00',
        '2 of 3 €13.33',
        'Mark',
        '1 failed',
        '10 days ago',
        'Nov 24, 2026',
      ],
      ['1002', '1502', 'R-05', '€5.50', '2 of 3 €3.67', 'Mark', '2 failed', '2 days ago', '–'],
    ]);
    assert.match(
      plain(await get(`${home}/open`)),
      /3 payments outstanding now: €125\.50 at stake, €83\.67 of it likely to come back\. €60\.00 came back in the 30 days before\./,
    );
    assert.match(
      plain(await get(`${home}/open?code=R-05`)),
      /€5\.50 at stake, €3\.67 of it .* €0\.00 came/,
    );
    assert.match(await get(`${home}/open`), /<tfoot>.*€125\.50.*€83\.67.*<\/tfoot>/s);
    const ids = async (query: string) => (await rows(query)).map(([id]) => id);
    assert.deepEqual(await ids('?order=unlikely'), ['1002', '1001', '1003']);
    assert.deepEqual(await ids('?order=oldest'), ['1001', '1003', '1002']);
    assert.deepEqual(await ids('?order=newest'), ['1002', '1003', '1001']);
    assert.deepEqual(await ids('?order=amount'), ['1003', '1001', '1002']);
    assert.deepEqual(await ids('?order=lowest'), ['1002', '1001', '1003']);
    assert.deepEqual(await ids('?code=R-05'), ['1002']);
    assert.deepEqual(await ids('?code=(none)&order=amount'), ['1003']);
    const page = await get(`${home}/open`);
    assert.match(page, /href="\.\.\/subscriptions\/1001"/);
    assert.match(page, /href="\.\.\/customers\/1501"/);
    assert.match(page, /code=%28none%29"\s*>No code given \(1\)/);
    assert.match(
      await get(`${home}/open?code=none`, 400),
      /“none” is not a failure code of these payments/,
    );
    assert.deepEqual(await linesOf(`${home}/open.csv?order=amount`), [
      '1003,1003,1503,1503,,100,EUR,66.67,3,2,,,1,2026-11-15T10:00:00.000Z,',
      '1001,1001,1501,1501,insufficient_funds,20,EUR,13.33,3,2,,,1,2026-11-10T10:00:00.000Z,2026-11-24T00:00:00.000Z',
      '1002,1002,1502,1502,R-05,5.5,EUR,3.67,3,2,,,2,2026-11-18T10:00:00.000Z,',
    ]);
  });

  test('notes who was contacted, by whom and when, until it is undone', async () => {
    // 1001 and the time of the payment, both in base 36.
    const named = 'rt mwair0g0';
    const path = `${home}/contacted`;
    const post = async (fields: Readonly<Record<string, string>>) => {
      await visitor.get(`${home}/open`);
      const { status, location } = await visitor.post(path, {
        back: `${home}/open?order=oldest`,
        ...fields,
      });
      assert.deepEqual([status, location], [303, `${home}/open?order=oldest`]);
    };
    const cell = async (who = visitor) =>
      rowsOf((await who.get(`${home}/open?order=oldest`)).text).map((row) => row[5]);
    const page = await get(`${home}/open`);
    assert.match(page, new RegExp(`name="done"\\s+value="${named}"`));
    assert.match(page, new RegExp(`<form class="contact" method="post" action="${path}"`));
    await post({ done: named });
    await post({ done: named });
    assert.deepEqual(await cell(), ['less than a minute ago by you Undo', 'Mark', 'Mark']);
    const { visitor: colleague } = await signedInOwner(world);
    assert.match((await cell(colleague))[0] ?? '', /^less than a minute ago by \S+@\S+ Undo$/);
    const [first = ''] = await linesOf(`${home}/open.csv?order=oldest`);
    assert.match(first, /^1001,.*,2026-11-20T12:00:00\.000Z,\S+@\S+$/);
    // A record that comes late, and changes which case it is.
    const late = {
      type: 'payment',
      subscriptionId: 1001,
      cycle: '0',
      amount: '20.00',
    };
    const earlier = [
      { ...late, id: 1, status: 'failed', processedAt: '2026-10-01T00:00:00Z' },
      { ...late, id: 2, status: 'succeeded', processedAt: '2026-10-02T00:00:00Z' },
    ];
    assert.deepEqual((await importAll(world.store, world.shop, earlier)).refused, []);
    assert.match((await cell())[0] ?? '', /by you/);
    for (const id of [1, 2]) {
      await importAll(world.store, world.shop, [{ type: 'delete', record: 'payment', id }]);
    }
    await post({ undo: named });
    assert.deepEqual(await cell(), ['Mark', 'Mark', 'Mark']);
    // What is no case is not noted.
    for (const done of ['', 'x', 'rt mwair0g1', '2gosa7pa2gx 1', 'rt zzzzzzzzz']) {
      await post({ done });
    }
    const rows = await world.store.write`
      select from contacted_cases where shop_id = ${world.shop.id}`;
    assert.equal(rows.length, 0);
    await visitor.get(home);
    const away = await visitor.post(path, { done: 'x', back: 'https://elsewhere.example/' });
    assert.equal(away.location, '/app');
  });

  test('lists what closed, by result, code, attempts and days', async () => {
    const ids = async (query: string) =>
      rowsOf(await get(`${home}/closed${query}`)).map(([id]) => id);
    assert.deepEqual(rowsOf(await get(`${home}/closed`)), [
      ['1006', 'Card expired', '€40.00', 'Lost', 'Nov 8, 2026', '2 failed', 'Nov 2, 2026', '1506'],
      [
        '1005',
        'Insufficient funds',
        '€30.00',
        'Recovered',
        'Nov 5, 2026',
        '2 failed',
        'Nov 2, 2026',
        '1505',
      ],
      [
        '1004',
        'Card expired',
        '€30.00',
        'Recovered',
        'Nov 4, 2026',
        '1 failed',
        'Nov 2, 2026',
        '1504',
      ],
    ]);
    assert.deepEqual(await ids('?result=lost'), ['1006']);
    assert.deepEqual(await ids('?order=oldest'), ['1004', '1005', '1006']);
    const recovered = await get(`${home}/closed?result=recovered`);
    assert.equal(plain(/<tfoot>.*<\/tfoot>/s.exec(recovered)?.[0] ?? ''), 'Total €60.00');
    assert.deepEqual(await ids('?code=expired_card&result=recovered'), ['1004']);
    assert.deepEqual(await ids('?attempts=2'), ['1006', '1005']);
    assert.deepEqual(await ids('?retries=1'), ['1006', '1004']);
    assert.deepEqual(await ids('?retries=2%2B'), ['1005']);
    assert.match(await get(`${home}/closed?retries=2%2B`), /Only attempts to collect: 2 or more\./);
    assert.deepEqual(await ids('?attempts=1%2B&first=2026-11-04&last=2026-11-05'), [
      '1005',
      '1004',
    ]);
    assert.deepEqual(await ids('?from=2026-11-05&to=2026-11-05'), ['1005']);
    assert.deepEqual(await linesOf(`${home}/closed.csv?result=lost`), [
      '1006,1006,expired_card,40,EUR,Lost,2026-11-08T00:00:00.000Z,2,2026-11-02T10:00:00.000Z,1506,1506',
    ]);
  });

  test('says what is wrong with an address, and what would be right', async () => {
    for (const [query, message] of [
      [
        '/open?order=age',
        /“age” is not an order\. Choose expected, unlikely, oldest, newest, amount or lowest\./,
      ],
      ['/open?cursor=x', /This address continues another list/],
      ['/open?cursor=1_2_3', /This address continues another list/],
      ['/closed?cursor=1.5_2_3_4', /This address continues another list/],
      ['/closed?result=paid', /“paid” is not a result\. Choose recovered or lost\./],
      [
        '/closed?attempts=0',
        /“0” is not a number of attempts\. Write one from 1 to 999, such as 2, or 4\+ for 4 or more\./,
      ],
      ['/closed?retries=2%2B1', /“2\+1” is not a number of retries\. Write one from 1 to 999/],
      [
        '/closed?first=2026-11-05&last=2026-11-04',
        /The first day is after the last one\. Exchange them\./,
      ],
      [
        '/closed?code=%00',
        /” is not a failure code\. Write a code of at most 64 letters, .*, or \(none\)\./,
      ],
      ['/open?code=a%20b', /“a b” is not a failure code\. Write a code of at most 64 letters/],
      ['/closed?first=yesterday', /“yesterday” is not a day\. Write one as in 2026-11-20\./],
      ['?order=x', /“x” is not an order\. Choose expected, unlikely/],
    ] as const) {
      assert.match(await get(home + query, 400), message);
    }
    assert.match(await get(`${home}?days=31`, 400), /“31” is not one of the periods/);
    const { status, location } = await visitor.get(`${home}/closed.csv?result=paid`);
    assert.deepEqual([status, location], [303, `${home}/closed?result=paid`]);
    assert.equal((await visitor.get(`${home}/charts.csv?chart=none`)).status, 404);
  });

  test('has files of its charts and tables', async () => {
    assert.deepEqual(await linesOf(`${home}/charts.csv?chart=recovery-codes`), [
      'expired_card,1,1,0.5,30,40,EUR',
      'insufficient_funds,1,0,1,30,0,EUR',
    ]);
    const days = await linesOf(
      `${home}/charts.csv?chart=recovered-amount&from=2026-11-04&to=2026-11-05`,
    );
    assert.deepEqual(days, [
      '2026-11-04,2026-11-04,30,0,0,0,EUR',
      '2026-11-05,2026-11-05,30,0,0,0,EUR',
    ]);
  });

  test('shows the code of a failed payment on the page of its subscription', async () => {
    const page = await get(home.replace('/recovery', '/subscriptions/1001'));
    assert.match(plain(page), /Failed Payment declined Insufficient funds insufficient_funds/);
    assert.doesNotMatch(
      await get(home.replace('/recovery', '/subscriptions/1003')),
      /No code given/,
    );
  });

  test('explains itself in a shop without data, and in one that owes nothing', async () => {
    const empty = await createShop(world.store);
    const { visitor: owner } = await signedInOwner(world, { shopId: empty.id });
    const path = `/app/shops/${empty.id}/recovery`;
    assert.match((await owner.get(path)).text, /No payments yet.*Go to Sources.*<div inert>/s);
    const queue = await owner.get(`${path}/open`);
    assert.match(queue.text, /Nothing is outstanding/);
    assert.doesNotMatch(queue.text, /at stake|not known/);
    assert.match((await owner.get(`${path}/closed`)).text, /Nothing closed in this period/);
    await importAll(world.store, empty, [plan(), subscription(1001)]);
    const { text } = await owner.get(path);
    assert.match(text, /Nothing outstanding now\./);
    assert.match(text, /No failed payment was recovered or lost in the last 30 days\./);
  });

  test('shows amounts in the shop’s currency, exactly', async () => {
    for (const [currency, amount, shown] of [
      ['JPY', '1200', '¥1,200'],
      ['KWD', '1.005', 'KWD 1.005'],
    ] as const) {
      const shop = await createShop(world.store, { currency });
      await importAll(world.store, shop, [plan(), ...troubled(1001, amount, [['10', 'x']])]);
      const { visitor: owner } = await signedInOwner(world, { shopId: shop.id });
      const page = await owner.get(`/app/shops/${shop.id}/recovery`, {
        'accept-language': 'en-US',
      });
      assert.match(
        answerOf(page.text.replaceAll('\u00A0', ' ')),
        new RegExp(`^1 payment outstanding now, ${shown}\\.`),
      );
      const { text } = await owner.get(`/app/shops/${shop.id}/recovery/open`, {
        'accept-language': 'en-US',
      });
      assert.match(
        plain(text.replaceAll('\u00A0', ' ')),
        new RegExp(
          `${shown} at stake, and how much of it is likely to come back is not known before a case has closed\\.`,
        ),
      );
    }
  });
});
