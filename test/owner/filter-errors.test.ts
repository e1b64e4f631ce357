import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lists } from '../../src/owner/routes.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, importAll, startWorld } from '../support/world.ts';
import { plain } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

onOneDatabase('a filter in error', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open());
    const records = [plan(), subscription(1001)];
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}`;
  });
  after(() => world.close());

  /** What the page says is wrong, and the fields that it is about: what they say, and whether they get the focus. */
  async function see(path: string, expected: number) {
    const { status, text } = await visitor.get(home + path);
    assert.equal(status, expected, path);
    const [, problem = ''] = /id="problem" role="alert">(.*?)<\/p>/s.exec(text) ?? [];
    const fields = [...text.matchAll(/<(?:input|select)\b[^>]*>/g)].map(([field]) => field);
    const marked = fields.filter((field) => field.includes('aria-invalid="true"'));
    for (const field of marked) assert.match(field, /aria-describedby="problem"/);
    const valueOf = (field: string, name: string) =>
      new RegExp(`\\s${name}="([^"]*)"`).exec(field)?.[1];
    return {
      text,
      problem: plain(problem),
      marked: marked.map((field) => [
        /id="([^"]*)"/.exec(field)?.[1],
        valueOf(field, 'value'),
        field.includes('autofocus'),
      ]),
    };
  }

  const pages = ['', '/churn', '/cohorts', '/subscriptions'];

  test('of a segment keeps what was typed, is marked, and the first has the focus', async () => {
    for (const path of pages) {
      const price = await see(`${path}?price=abc&price=5&plan=11`, 400);
      assert.match(price.problem, /^“abc-5” is not a price from and to\./, path);
      assert.deepEqual(price.marked, [
        ['segment-price-from', 'abc', true],
        ['segment-price-to', '5', false],
      ]);
      assert.match(price.text, /<option value="11" selected>/);
      const age = await see(`${path}?age=5`, 400);
      assert.deepEqual(age.marked, [['segment-age', undefined, true]]);
      assert.match(age.text, /<option value="5" selected>/);
    }
  });

  test('of dates has its own sentence, beside what is wrong with the segment', async () => {
    for (const path of ['', '/churn', '/revenue', '/recovery', '/cancel-flow', '/churn/left']) {
      const { problem, marked } = await see(`${path}?from=2026-02-30&to=2026-11-10`, 400);
      assert.equal(
        problem,
        '“2026-02-30” is not a date, so there is no first day. Write one as in 2026-11-20.',
        path,
      );
      assert.deepEqual(marked, [['from', '2026-02-30', true]], path);
    }
    const both = await see('?from=2026-11-01&to=&price=9-1', 400);
    assert.match(both.problem, /^The last day is missing\. Choose one, too\. “9-1” is not a price/);
    const turned = await see('?from=2026-11-20&to=2026-11-10', 400);
    assert.deepEqual(turned.marked, [
      ['from', '2026-11-20', true],
      ['to', '2026-11-10', false],
    ]);
  });

  test('of a search by number keeps what was searched for', async () => {
    for (const name of ['customer', 'subscription']) {
      const { marked } = await see(`/subscriptions?${name}=abc`, 404);
      assert.deepEqual(marked, [[name, 'abc', true]]);
    }
  });

  test('of a choice says what was wrong and what would be right, on every page with that choice', async () => {
    const of = (noun: string) =>
      new RegExp(`^“zzz” is not ${noun}\\. (Choose .+|There is none to choose)\\.$`);
    const period = { days: /“zzz” is not one of the periods/, compare: of('a comparison') };
    const drawn = { show: of('a chart'), per: of('a span of time'), table: of('a table to open') };
    const chart = { ...period, ...drawn };
    const figures: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
      '': chart,
      '/churn': { ...chart, by: of('a dimension') },
      '/cohorts': { of: of('a measure'), as: of('a unit'), months: of('a number of months') },
      '/revenue': { ...chart, by: of('a dimension'), within: of('a number of days') },
      '/recovery': { ...chart, by: of('a dimension'), order: of('an order') },
      '/cancel-flow': { ...chart, by: of('a dimension') },
      '/developers/usage': { period: of('a period') },
      '/developers/console': { operation: of('an operation'), key: of('a key of this shop') },
    };
    const ofList = {
      order: of('an order'),
      rows: of('a number of rows'),
      columns: of('a column'),
      choose: of('what this list lets you choose'),
    };
    const listed = Object.fromEntries(
      lists
        .filter(({ info: { path } }) => !path.includes(':'))
        .map(({ info: { path } }) => [path, ofList]),
    );
    assert.ok(Object.keys(listed).length >= 12);
    const all = [...Object.entries(figures), ...Object.entries(listed)];
    for (const [path, choices] of all) {
      for (const [name, message] of Object.entries(choices)) {
        const { problem, text } = await see(`${path}?${name}=zzz`, 400);
        assert.match(problem, message, `${path} ${name}`);
        assert.equal(problem.match(/“zzz”/g)?.length, 1, text);
      }
    }
    for (const path of ['', '/churn/left', '/revenue/movements']) {
      assert.match((await see(`${path}?days=0`, 400)).problem, /“0” is not one of the periods/);
    }
  });

  test('of a filter of one list says what it was and could be, and parameters of others are ignored', async () => {
    const problems = [
      ['/revenue/renewals?week=9', '“9” is not a week ahead. Choose one from 1 to 8.'],
      [
        '/developers/requests?status=ok',
        '“ok” is not the status of a response. Write one as in 429.',
      ],
      ['/developers/requests?key=a-b', '“a-b” is not the id of a key. Choose a key.'],
      [
        '/developers/requests?key=zzz',
        '“zzz” is not a choice under “Key”. There is none to choose.',
      ],
      ['/audit?who=%00', '“\0” is not one of the names. Choose one of them.'],
      ['/audit?cursor=zzz', 'This address continues another list, or one with other filters.'],
    ] as const;
    await world.store.write`delete from api_keys where shop_id = ${world.shop.id}`;
    for (const [path, problem] of problems) assert.equal((await see(path, 400)).problem, problem);
    for (const path of ['', '/churn', '/cohorts', '/churn/left', '/developers/usage', '/keys']) {
      assert.equal((await see(`${path}?utm_source=letter&id=abc&after=zzz`, 200)).problem, '');
    }
  });

  test('of a filter that nothing has says so, instead of showing nothing', async () => {
    const failed = {
      type: 'payment',
      id: 1,
      subscriptionId: 1001,
      cycle: '1',
      status: 'failed',
      failureKind: 'payment',
      failureCode: 'expired_card',
      amount: '30.60',
      processedAt: '2026-11-19T00:00:00Z',
    };
    assert.deepEqual((await importAll(world.store, world.shop, [failed])).refused, []);
    const { problem } = await see('/recovery/open?code=zzz', 400);
    assert.equal(problem, '“zzz” is not a failure code of these payments. Choose expired_card.');
    assert.equal((await see('/recovery/open?code=expired_card', 200)).problem, '');
    const left = await see('/churn/left?left-plan=99', 400);
    assert.equal(left.problem, '“99” is not a choice under “Plan”. Choose 11.');
  });
});
