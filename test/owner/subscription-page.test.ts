import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { line, plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, now, startWorld } from '../support/world.ts';
import { plain } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const payment = (id: number, over: object) => ({
  type: 'payment',
  id,
  subscriptionId: 1001,
  cycle: id,
  status: 'succeeded',
  amount: '30.60',
  processedAt: '2026-11-01T00:00:00Z',
  ...over,
});

onOneDatabase('the owner’s page of a subscription', (open) => {
  let world: World;
  let visitor: Visitor;
  before(async () => {
    world = await startWorld(open(), { currency: 'EUR' });
    assert.deepEqual((await importAll(world.store, world.shop, [plan()])).refused, []);
    ({ visitor } = await signedInOwner(world));
  });
  after(() => world.close());

  const add = async (...records: object[]) =>
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
  const see = async (id: number): Promise<string> => {
    const path = `/app/shops/${world.shop.id}/subscriptions/${id}`;
    const page = await visitor.get(path, { 'accept-language': 'en-GB' });
    assert.equal(page.status, 200);
    return plain(/<main.*<\/main>/s.exec(page.text)?.[0] ?? '');
  };

  test('shows a billing date that has passed as such', async () => {
    const passed = { createdAt: '2026-09-01T00:00:00Z', nextBillingDate: '2026-11-03T00:00:00Z' };
    await add(subscription(1950, { ...passed, status: 'active' }));
    assert.match(await see(1950), /Next billing was 3 Nov 2026/);
  });

  test('shows the end of the trial, intervals of lines, and that a date is unknown', async () => {
    const yearly = { ...line, lineId: 7, intervalUnit: 'year', intervalCount: 1 };
    await add(
      subscription(1900, {
        status: 'cancelled',
        createdAt: '2026-11-01T00:00:00Z',
        trialEndsAt: '2026-11-30T00:00:00Z',
        statusEvents: [{ at: null, to: 'cancelled' }],
        lines: [yearly],
      }),
    );
    const text = await see(1900);
    for (const part of [
      'Trial until 30 Nov 2026',
      'every year',
      'since an unknown day',
      'Cancelled On an unknown day',
    ]) {
      assert.ok(text.includes(part), `${part}: ${text}`);
    }
  });

  test('says whether it entitles, and why, as in the API', async () => {
    const justPast = '2026-11-20T11:59:59.999Z';
    const justAhead = '2026-11-20T12:00:00.001Z';
    const cases: [string, string | undefined, string][] = [
      ['active', justPast, 'Entitled: the subscription is active.'],
      [
        'paused',
        justAhead,
        'Entitled until 20 Nov 2026, 12:00 UTC : the subscription is paused but is paid until then.',
      ],
      [
        'cancelled',
        justAhead,
        'Entitled until 20 Nov 2026, 12:00 UTC : the subscription is cancelled but is paid until then.',
      ],
      [
        'paused',
        now,
        'Not entitled: the subscription is paused and was paid only until 20 Nov 2026, 12:00 UTC .',
      ],
      [
        'cancelled',
        justPast,
        'Not entitled: the subscription is cancelled and was paid only until 20 Nov 2026, 11:59 UTC .',
      ],
      [
        'cancelled',
        undefined,
        'Not entitled: the subscription is cancelled and no paid period is known.',
      ],
      [
        'expired',
        justAhead,
        'Entitled until 20 Nov 2026, 12:00 UTC : the subscription has expired but is paid until then.',
      ],
      [
        'failed',
        justAhead,
        'Entitled until 20 Nov 2026, 12:00 UTC : the subscription has failed but is paid until then.',
      ],
      [
        'expired',
        now,
        'Not entitled: the subscription has expired and was paid only until 20 Nov 2026, 12:00 UTC .',
      ],
      [
        'failed',
        undefined,
        'Not entitled: the subscription has failed and no paid period is known.',
      ],
    ];
    for (const [index, [status, paidThroughAt, sentence]] of cases.entries()) {
      const id = 2001 + index;
      await add(subscription(id, { customerId: id, status, paidThroughAt }));
      assert.ok((await see(id)).includes(sentence), sentence);
    }
  });

  test('shows items, payments, refunds, status history, dunning and sessions, newest first', async () => {
    await add(
      subscription(1001, {
        customerId: 77,
        intervalUnit: 'month',
        intervalCount: 2,
        nextBillingDate: '2026-12-24T00:00:00Z',
        paidThroughAt: '2026-12-23T00:00:00Z',
        statusEvents: [
          { at: '2026-11-03T00:00:00Z', to: 'paused' },
          { at: '2026-11-05T00:00:00Z', to: 'active' },
        ],
        lines: [
          line,
          { ...line, lineId: 2, productTitle: '<i>Mug</i>', variantTitle: '', quantity: 1200 },
        ],
      }),
      payment(1, { processedAt: '2026-11-02T00:00:00Z' }),
      payment(2, {
        processedAt: '2026-11-08T00:00:00Z',
        status: 'failed',
        failureKind: 'inventory',
      }),
      payment(3, { processedAt: '2026-11-09T00:00:00Z', status: 'failed', cycle: '<b>9' }),
      payment(4, { processedAt: '2026-11-10T00:00:00Z', status: 'pending' }),
      { type: 'refund', id: 1, paymentId: 1, amount: '5.00', refundedAt: '2026-11-06T00:00:00Z' },
      { type: 'refund', id: 2, paymentId: 1, amount: '1.25', refundedAt: '2026-11-07T00:00:00Z' },
      session(1, { subscriptionId: 1001, createdAt: '2026-11-03T00:00:00Z', outcome: 'saved' }),
      session(2, {
        subscriptionId: 1001,
        createdAt: '2026-11-04T00:00:00Z',
        detectedReason: 'not_using',
        offerType: 'skip_next',
      }),
    );
    const text = await see(1001);
    for (const words of [
      'Subscription 1001 Active since 5 Nov 2026',
      'In dunning since 9 Nov 2026 : a payment failed, and none has succeeded since.',
      'House Blend 1 lb €15.30 × 2 <i>Mug</i> €15.30 × 1,200 Total €18,390.60',
      'Payments Date Status Amount 10 Nov 2026 Cycle 4 Pending €30.60 9 Nov 2026 Cycle <b>9 Failed Payment declined €30.60 8 Nov 2026 Cycle 2 Failed Out of stock (not counted as a failed payment) €30.60 2 Nov 2026 Cycle 1 Paid €6.25 refunded 7 Nov 2026 €30.60',
      'Cancel flow Started Reason and offer Outcome 4 Nov 2026 Not using it Offer: Skip next order In progress 3 Nov 2026 Too expensive Offer: None Saved',
      'Customer 77 Id 1001 Copy Plan Monthly box Subscription Price €18,390.60 every 2 months Next billing 24 Dec 2026 Paid through 23 Dec 2026 Created 1 Nov 2026',
      'Status history Active 5 Nov 2026 Paused 3 Nov 2026 Active 1 Nov 2026',
    ]) {
      assert.ok(text.includes(words), `${words}\n${text}`);
    }
    await add(payment(5, { processedAt: '2026-11-11T00:00:00Z' }));
    assert.doesNotMatch(await see(1001), /In dunning/);
  });

  test('shows the latest 50 payments, and says so', async () => {
    const at = (index: number) => new Date(Date.parse(now) - index * 3_600_000).toISOString();
    await add(
      subscription(3001),
      ...Array.from({ length: 51 }, (_, index) =>
        payment(5000 + index, {
          subscriptionId: 3001,
          cycle: `c${index}.`,
          processedAt: at(index),
        }),
      ),
    );
    const text = await see(3001);
    assert.equal([...text.matchAll(/Cycle c\d+\./g)].length, 50);
    assert.ok(text.includes('Cycle c49.') && !text.includes('Cycle c50.'));
    assert.match(text, /Only the latest 50 are shown\./);
    assert.match(text, /Cancel-flow sessions appear here/);
  });

  test('is found by ids at the source, which it shows, and so are its customer’s subscriptions', async () => {
    const shop = await createShop(world.store);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const [id, customerId] = [deriveId('subscription', 'sub_1'), deriveId('customer', 'cus_1')];
    const sourceIds = { id: 'sub_1', customerId: 'cus_1' };
    const records = [
      plan(),
      subscription(id, { customerId, sourceIds }),
      subscription(1001, { customerId: 501 }),
    ];
    assert.deepEqual((await importAll(world.store, shop, records, true)).refused, []);
    const home = `/app/shops/${shop.id}/subscriptions`;
    const goTo = async (query: string) => (await owner.get(`${home}?${query}`)).location;
    for (const text of ['sub_1', '+sub_1', String(id)]) {
      assert.equal(await goTo(`subscription=${text}`), `${home}/${id}`);
    }
    assert.equal(await goTo('customer=cus_1'), `${home}?customer=${customerId}`);
    assert.equal((await owner.get(`${home}?customer=+${customerId}+`)).status, 200);
    const blank = await owner.get(`${home}?customer=+`);
    assert.equal(blank.status, 200);
    assert.doesNotMatch(plain(blank.text), /Subscriptions of customer/);

    const details = plain((await owner.get(`${home}/${id}`)).text);
    assert.match(details, /Customer cus_1 Id at the source sub_1 Copy Number here \d+ Copy/);
    const other = plain((await owner.get(`${home}/1001`)).text);
    assert.match(other, /Customer 501 Id 1001 Copy Plan/);
    assert.doesNotMatch(other, /Id at the source/);
    const list = plain((await owner.get(`${home}?customer=${customerId}`)).text);
    assert.match(list, new RegExp(`Subscriptions of customer ${customerId} \\(cus_1\\)`));

    for (const query of ['customer=cus_2', 'customer=sub_1', 'subscription=cus_1']) {
      const { status, text } = await owner.get(`${home}?${query}`);
      assert.equal(status, 404, query);
      const [, noun, sought] = /(.*)=(.*)/.exec(query) ?? [];
      assert.match(plain(text), new RegExp(`This shop has no ${noun} ${sought}\\. Check the id`));
      assert.match(text, new RegExp(`value="${sought}"`));
      assert.match(text, /"subscriptions\/1001"/);
    }
    const theirs = `/app/shops/${world.shop.id}/subscriptions`;
    assert.equal((await visitor.get(`${theirs}?subscription=sub_1`)).status, 404);
    assert.equal((await visitor.get(`${home}?subscription=sub_1`)).status, 404);
  });
});
