import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, type World, createShop, importAll, startWorld } from '../support/world.ts';
import { plain, rowsOf } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const payment = (id: number, over: object) => ({
  type: 'payment',
  id,
  status: 'succeeded',
  amount: '30.60',
  ...over,
});

const refund = (id: number, over: object) => ({ type: 'refund', id, ...over });

onOneDatabase('the page of a customer', (open) => {
  let world: World;
  let shop: TestShop;
  let visitor: Visitor;
  let home: string;
  const customer = deriveId('customer', 'cus_1');
  const first = deriveId('subscription', 'sub_1');
  before(async () => {
    world = await startWorld(open());
    shop = await createShop(world.store, { currency: 'EUR' });
    ({ visitor } = await signedInOwner({ ...world, shop }));
    home = `/app/shops/${shop.id}`;
    const of = { subscriptionId: first };
    const records = [
      plan(),
      subscription(first, {
        customerId: customer,
        sourceIds: { id: 'sub_1', customerId: 'cus_1' },
        createdAt: '2026-09-01T00:00:00Z',
        updatedAt: '2026-11-10T00:00:00Z',
        statusEvents: [
          { at: '2026-09-20T00:00:00Z', to: 'paused' },
          { at: '2026-10-01T00:00:00Z', to: 'active' },
        ],
        valueEvents: [
          { at: '2026-09-01T00:00:00Z', mrr: '20' },
          { at: '2026-11-10T00:00:00Z', mrr: '30.6' },
        ],
      }),
      subscription(1002, {
        customerId: customer,
        status: 'cancelled',
        createdAt: '2026-08-01T00:00:00Z',
        statusEvents: [{ at: '2026-08-15T00:00:00Z', to: 'cancelled' }],
      }),
      subscription(1003, { customerId: 501 }),
      payment(1, { ...of, cycle: '1', amount: '20.00', processedAt: '2026-09-02T00:00:00Z' }),
      payment(2, {
        ...of,
        cycle: '2',
        status: 'failed',
        failureCode: 'expired_card',
        amount: '20.00',
        processedAt: '2026-11-02T00:00:00Z',
      }),
      payment(3, {
        ...of,
        cycle: '3',
        status: 'failed',
        failureKind: 'inventory',
        amount: '20.00',
        processedAt: '2026-10-03T00:00:00Z',
      }),
      refund(9, { paymentId: 1, amount: '5.00', refundedAt: '2026-09-05T00:00:00Z' }),
      session(7001, {
        ...of,
        createdAt: '2026-10-20T00:00:00Z',
        detectedReason: 'too_expensive',
        offerType: 'pause',
        outcome: 'saved',
      }),
    ];
    assert.deepEqual((await importAll(world.store, shop, records, true)).refused, []);
  });
  after(() => world.close());

  const see = async (path: string) => {
    const { status, text } = await visitor.get(home + path, { 'accept-language': 'en-GB' });
    assert.equal(status, 200, path);
    return text;
  };
  const events = (page: string) => rowsOf(page.slice(page.indexOf('class="rows"')));

  test('says what they are worth, what they paid, and everything that happened, newest first', async () => {
    const page = await see(`/customers/${customer}`);
    const text = plain(page);
    assert.match(text, /Customer cus_1 Open in Stripe/);
    assert.match(
      text,
      /€30\.60 a month now, €15\.00 paid since 1 Aug 2026 \. Payment failed Cancel flow/,
    );
    assert.match(text, new RegExp(`Id at the source cus_1 Copy Number here ${customer} Copy`));
    assert.match(
      text,
      /sub_1 Monthly box Active €30\.60 every month Unknown 1002 Monthly box Cancelled/,
    );
    assert.match(page, /href="https:\/\/dashboard\.stripe\.com\/customers\/cus_1"/);
    assert.deepEqual(
      events(page).map((row) => row.join(' | ')),
      [
        'sub_1 | Worth more a month | before €20.00 | €30.60 | 10 Nov 2026',
        'sub_1 | Payment failed | Card expired expired_card | €20.00 | 2 Nov 2026',
        'sub_1 | Saved by the cancel flow | Too expensive Offer: Pause |  | 20 Oct 2026',
        'sub_1 | Payment failed | Out of stock (not counted as a failed payment) | €20.00 | 3 Oct 2026',
        'sub_1 | Active |  |  | 1 Oct 2026',
        'sub_1 | Paused |  |  | 20 Sept 2026',
        'sub_1 | Refunded |  | €5.00 | 5 Sept 2026',
        'sub_1 | Paid |  | €20.00 | 2 Sept 2026',
        'sub_1 | Subscribed | Monthly box |  | 1 Sept 2026',
        '1002 | Cancelled |  |  | 15 Aug 2026',
        '1002 | Subscribed | Monthly box |  | 1 Aug 2026',
      ],
    );
  });

  test('is named in lists by its whole id, with a link home in each cell where sources differ', async () => {
    const mixed = await createShop(world.store);
    const gid = 'gid://shopify/SubscriptionContract/77';
    const of = (id: string) =>
      subscription(deriveId('subscription', id), { sourceIds: { id }, customerId: 501 });
    const { refused } = await importAll(world.store, mixed, [plan(), of('sub_1'), of(gid)], true);
    assert.deepEqual(refused, []);
    const { visitor: owner } = await signedInOwner({ ...world, shop: mixed });
    const { text } = await owner.get(`/app/shops/${mixed.id}/subscriptions`);
    const [, copied = ''] =
      /data-copies="ids"[^>]*>.*?<pre id="ids" hidden>([^<]*)/s.exec(text) ?? [];
    assert.deepEqual(copied.split('\n').toSorted(), [gid, 'sub_1']);
    const heads = [...text.matchAll(/<th scope="row">(.*?)<td/gs)].map(([, head = '']) => head);
    assert.deepEqual(heads.map((head) => plain(head).trim()).toSorted(), ['77', 'sub_1']);
    // No address in the head of the column, from which a script would make all links, holds for both.
    assert.doesNotMatch(text, /data-home/);
    assert.deepEqual(
      heads.flatMap((head) => /href="([^"]*)" target="_blank"/.exec(head)?.[1] ?? []),
      ['https://dashboard.stripe.com/subscriptions/sub_1'],
    );
  });

  test('shows one kind of event, on pages, and in a file', async () => {
    const payments = await see(`/customers/${customer}?kind=payment&order=oldest`);
    assert.deepEqual(
      events(payments).map((row) => row.at(-1)),
      ['2 Sept 2026', '3 Oct 2026', '2 Nov 2026'],
    );
    const many = Array.from({ length: 60 }, (_, index) =>
      payment(100 + index, {
        subscriptionId: 1003,
        cycle: `c${index}`,
        // Several at one instant.
        processedAt: `2026-11-${String(1 + (index % 10)).padStart(2, '0')}T00:00:00Z`,
      }),
    );
    assert.deepEqual((await importAll(world.store, shop, many)).refused, []);
    for (const order of ['newest', 'oldest']) {
      const one = await see(`/customers/501?order=${order}`);
      const next = /class="next" href="([^"]+)"/.exec(one)?.[1] ?? '';
      const two = await see(next.replaceAll('&amp;', '&').slice(home.length));
      assert.deepEqual([events(one).length, events(two).length], [50, 11], order);
    }
    const file = (await see('/customers/501.csv')).split('\r\n');
    assert.equal(
      file[0],
      'Subscription,Subscription at source,What,Plan,Reason,Amount,Currency,When (UTC)',
    );
    assert.equal(file.length, 1 + 61 + 1);
  });

  test('does not exist for a number that is no customer’s', async () => {
    for (const number of ['999', '0', '1e3', '01', 'cus_1', '9007199254740993']) {
      assert.equal((await visitor.get(`${home}/customers/${number}`)).status, 404, number);
    }
    const other = await createShop(world.store);
    const { visitor: stranger } = await signedInOwner({ ...world, shop: other });
    const path = `/app/shops/${other.id}/customers/${customer}`;
    assert.equal((await stranger.get(path)).status, 404);
  });

  test('is found by the id at the source, beside the way to the platform', async () => {
    const results = /<div class="results"[^>]*>(.*?)<\/div>/s.exec(
      await see('/search?q=cus_1'),
    )?.[1];
    const links = [...(results ?? '').matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    assert.deepEqual(links, [
      `${home}/customers/${customer}`,
      'https://dashboard.stripe.com/customers/cus_1',
    ]);
  });

  test('leads to the owner’s own system, if the shop says where that is', async () => {
    const path = `${home}/sources/customer-link`;
    const save = async (address: string) => {
      await visitor.get(path);
      return visitor.post(path, { address });
    };
    for (const [address, problem] of [
      ['admin.example/{id}', 'This is no address. Write it in full, with https:// before it.'],
      ['http://admin.example/{id}', 'The address must begin with https://.'],
      ['javascript:alert({id})', 'The address must begin with https://.'],
      ['https://me:secret@admin.example/{id}', 'Leave out the user name and the password'],
      ['https://admin.example/customers', 'Write {id} where the customer’s id stands'],
      ['https://{id}.example/', '{id} must come after the host'],
      [`https://admin.example/{id}/${'a'.repeat(500)}`, 'Use at most 500 characters.'],
    ] as const) {
      const { status, text } = await save(address);
      assert.equal(status, 422, address);
      assert.ok(plain(text).includes(problem), plain(text));
      assert.ok(text.includes(`value="${address}"`), 'what was written stays');
    }
    // Where no platform keeps the customer, those who may say where it opens are led there.
    const asked = /href="([^"]*)"\s*>Set where this opens</;
    assert.equal(asked.exec(await see('/customers/501'))?.[1], path);
    assert.doesNotMatch(await see(`/customers/${customer}`), asked);
    const { visitor: analyst } = await signedInOwner(
      { ...world, shop },
      { shopId: shop.id, role: 'analyst' },
    );
    assert.doesNotMatch((await analyst.get(`${home}/customers/501`)).text, asked);
    assert.equal((await save(' https://admin.example/c?id={id}&again={id} ')).status, 303);
    assert.doesNotMatch(await see('/customers/501'), asked);
    const page = await see(`/customers/${customer}`);
    assert.match(page, /href="https:\/\/admin\.example\/c\?id=cus_1&amp;again=cus_1"/);
    assert.match(plain(page), /Open in admin\.example/);
    assert.match(
      await see('/customers'),
      /href="https:\/\/admin\.example\/c\?id=501&amp;again=501"/,
    );
    assert.equal((await save('')).status, 303);
    assert.doesNotMatch(await see('/customers'), /admin\.example/);
  });
});
