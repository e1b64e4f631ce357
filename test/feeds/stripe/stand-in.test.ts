import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { isSigned, readClaim, schemes } from '../../../src/push/signature.ts';
import { addCases } from '../../support/stripe/cases.ts';
import { document, findFaults, readPublished, schemaOf } from '../../support/stripe/schema.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld, addFixtures } from '../../support/stripe/world.ts';
import { webhookOf } from '../../support/stripe/webhooks.ts';
import { until } from '../../support/until.ts';
import { worldAt } from '../mapping/stripe/cases.ts';

const clock = new FixedClock(worldAt);
const world = new StripeWorld({ clock });
addFixtures(world);
const cases = addCases(world);
let stripe: StripeStandIn;
before(async () => {
  stripe = await startStripe(world);
});
after(() => stripe.close());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

async function ask(
  path: string,
  { key = stripe.key, version = document.info.version } = {},
): Promise<Answer> {
  const response = await fetch(`${stripe.baseUrl}/v1/${path}`, {
    headers: { authorization: `Bearer ${key}`, 'stripe-version': version },
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function refusal(path: string, options: { key?: string; version?: string } = {}) {
  const { status, body } = await ask(path, options);
  return [status, body.error.code ?? body.error.type, body.error.param, body.error.message];
}

async function all(path: string, pageSize = 100): Promise<readonly { readonly id: string }[]> {
  const rows: { readonly id: string }[] = [];
  for (;;) {
    const last = rows.at(-1);
    const next = last ? `&starting_after=${last.id}` : '';
    const { body } = await ask(`${path}${path.includes('?') ? '&' : '?'}limit=${pageSize}${next}`);
    rows.push(...body.data);
    if (!body.has_more) return rows;
  }
}

test('published samples fit the document, but for what is newer than they are', () => {
  const samples = readPublished('fixtures') as Record<string, object>;
  const newer = [
    'account.business_profile.specified_commercial_transactions_act_url is missing',
    'dispute.intended_submission_method is missing',
    'dispute.evidence_details.submission_method is missing',
    'invoice.subscription is not in the document',
    'payment_intent.allowed_payment_method_types is missing',
    'payment_intent.payment_record is missing',
    'product.tax_details is missing',
    'subscription.cancellation_details.feedback_option is missing',
    'subscription.items.data[0].current_trial is missing',
    'subscription.pending_update.cancel_at_period_end is missing',
    'subscription.trial_settings.end_behavior.billing_cycle_anchor is missing',
    'subscription_item.current_trial is missing',
  ];
  // Accounts within other samples are there in part.
  const isPart = (fault: string) => fault.includes('.transfer_data.destination.');
  const faults = Object.entries(samples).flatMap(([kind, sample]) =>
    findFaults(sample, schemaOf(kind), kind),
  );
  assert.deepEqual(
    faults.filter((each) => !isPart(each)),
    newer,
  );
});

test('refuses what the document does not have', async () => {
  const is = async (path: string, wanted: readonly unknown[]) =>
    assert.deepEqual((await refusal(path)).slice(0, wanted.length), wanted);
  await is('plans', [404, 'invalid_request_error']);
  await is('subscriptions?page=2', [
    400,
    'parameter_unknown',
    'page',
    'Received unknown parameter: page',
  ]);
  await is('subscriptions?limit=ten', [
    400,
    'parameter_invalid_integer',
    'limit',
    'Invalid integer: ten',
  ]);
  await is('subscriptions?limit=101', [400, 'parameter_invalid_integer', 'limit']);
  await is('subscriptions?status=live', [400, 'invalid_request_error', 'status']);
  await is('subscriptions?created[since]=1', [400, 'parameter_unknown', 'created[since]']);
  await is('subscriptions?starting_after=sub_none', [
    400,
    'resource_missing',
    'starting_after',
    "No such subscription: 'sub_none'",
  ]);
  await is('subscriptions/sub_none', [
    404,
    'resource_missing',
    'id',
    "No such subscription: 'sub_none'",
  ]);
  await is('subscription_items', [400, 'parameter_missing', 'subscription']);
  await is('subscriptions?expand[]=data.items.data.price.tiers', [
    400,
    'property_expansion_max_depth',
  ]);
  await is('subscriptions?expand[]=data.status', [
    400,
    'invalid_request_error',
    'expand',
    'This property cannot be expanded (data.status).',
  ]);
  await is('subscriptions?expand[]=customer', [
    400,
    'invalid_request_error',
    'expand',
    "This property cannot be expanded (customer). You may want to try expanding 'data.customer' instead.",
  ]);
});

test('lists everything once, newest first, in either direction', async () => {
  const wanted = world.list('subscription').map(({ id }) => id);
  assert.ok(wanted.length > cases.length);
  const listed = (await all('subscriptions?status=all', 17)).map(({ id }) => id);
  assert.deepEqual(listed, wanted);
  const { body: newer } = await ask(`subscriptions?status=all&limit=3&ending_before=${wanted[10]}`);
  assert.deepEqual(
    newer.data.map(({ id }: { id: string }) => id),
    wanted.slice(7, 10),
  );
  assert.equal(newer.has_more, true);
  const { body: first } = await ask(`subscriptions?status=all&ending_before=${wanted[2]}`);
  assert.deepEqual([first.data.length, first.has_more], [2, false]);
  assert.equal((await ask('subscriptions?status=all')).body.data.length, 10);
});

test('leaves canceled subscriptions out unless asked for them', async () => {
  const statuses = async (query: string) =>
    new Set(
      (await all(`subscriptions${query}`)).map(
        (each) => (each as unknown as { status: string }).status,
      ),
    );
  assert.ok(!(await statuses('')).has('canceled'));
  assert.deepEqual(await statuses('?status=canceled'), new Set(['canceled']));
  assert.deepEqual(await statuses('?status=ended'), new Set(['canceled', 'incomplete_expired']));
});

test('shows others by their ids unless they are expanded, and some properties only then', async () => {
  const { subscription } =
    cases.find((each) => each.case === 'graduated-discounted') ?? assert.fail();
  const path = `subscriptions/${subscription.id}`;
  const { body: plain } = await ask(path);
  const { price } = plain.items.data[0];
  assert.deepEqual([typeof plain.discounts[0], price.tiers], ['string', undefined]);
  const { body: expanded } = await ask(
    `${path}?expand[0]=discounts.source.coupon&expand[1]=items.data.price.tiers&expand[2]=customer`,
  );
  assert.equal(expanded.items.data[0].price.tiers.length, 3);
  assert.equal(expanded.discounts[0].source.coupon.object, 'coupon');
  assert.equal(expanded.discounts[0].source.coupon.applies_to, undefined);
  assert.equal(expanded.customer.object, 'customer');
});

test('refuses keys as Stripe does, and names the permission that is missing', async () => {
  const key = stripe.createKey({ without: ['rak_subscription_read'] });
  const [status, , , message] = await refusal('subscriptions', { key });
  assert.equal(status, 403);
  assert.match(
    String(message),
    /^The provided key 'rk_test_\*+\w{4}' .*'acct_\w+'\. Having the 'rak_subscription_read' permission would/,
  );
  assert.equal((await ask('invoices', { key })).status, 200);
  stripe.expireKey(key);
  assert.deepEqual((await refusal('invoices', { key })).slice(0, 2), [401, 'api_key_expired']);
  stripe.revokeKey(key);
  assert.deepEqual((await refusal('invoices', { key })).slice(0, 2), [
    401,
    'invalid_request_error',
  ]);
  const secret = stripe.createKey({ kind: 'sk' });
  const basic = `Basic ${Buffer.from(`${secret}:`).toString('base64')}`;
  const response = await fetch(`${stripe.baseUrl}/v1/account`, {
    headers: { authorization: basic },
  });
  assert.equal(((await response.json()) as { readonly id: string }).id, world.account);
  const live = new StripeWorld({ clock, livemode: true });
  const liveKey = stripe.createKey({ world: live });
  assert.match(liveKey, /^rk_live_/);
  assert.deepEqual((await ask('subscriptions', { key: liveKey })).body.data, []);
});

test('answers in the form of the version that is asked for', async () => {
  const { subscription } = cases.find((each) => each.case === 'forever-percent') ?? assert.fail();
  const path = `subscriptions/${subscription.id}?expand[]=discounts`;
  const { body: present } = await ask(path);
  assert.equal(typeof present.discounts[0].source.coupon, 'string');
  const { body: basil } = await ask(path, { version: '2025-03-31.basil' });
  assert.deepEqual(
    [basil.discounts[0].source, basil.discounts[0].coupon.object],
    [undefined, 'coupon'],
  );
  const { body: old } = await ask(path, { version: '2024-06-20' });
  assert.equal(old.current_period_end, present.items.data[0].current_period_end);
  assert.equal(old.discount.coupon.object, 'coupon');
  assert.deepEqual((await refusal(path, { version: '2099-01-01' })).slice(0, 2), [
    400,
    'invalid_request_error',
  ]);
});

test('limits requests, and fails on demand', async () => {
  stripe.limitPerSecond = 0;
  stripe.retryAfter = '2';
  const { status, headers, body } = await ask('prices');
  assert.deepEqual([status, headers.get('retry-after'), body.error.code], [429, '2', 'rate_limit']);
  stripe.limitPerSecond = Infinity;
  stripe.faults.failed = 1;
  assert.equal((await ask('prices')).status, 500);
  stripe.faults.cut = 1;
  await assert.rejects(ask('prices'));
  stripe.faults.hanging = 1;
  const caller = new AbortController();
  const hanging = fetch(`${stripe.baseUrl}/v1/prices`, { signal: caller.signal });
  await until(() => stripe.faults.hanging === 0);
  caller.abort();
  await assert.rejects(hanging, { name: 'AbortError' });
  assert.equal((await ask('prices')).status, 200);
});

test('records the events of changes, which can be late, lost or double, for 30 days', async () => {
  const { subscription } = cases[0] ?? assert.fail();
  const change = () =>
    world.change(
      'subscription',
      subscription.id,
      (each) => {
        each['description'] = String(clock.now());
      },
      'customer.subscription.updated',
    )[0] ?? assert.fail();
  const listed = async (query = '') =>
    (await all(`events?types[]=customer.subscription.updated${query}`)).map(({ id }) => id);
  const first = change();
  assert.deepEqual(Object.keys(first.data.previous_attributes ?? {}), ['description']);
  clock.advance(1000);
  world.holdEvents();
  const late = change();
  assert.deepEqual(await listed(), [first.id]);
  world.releaseEvents();
  assert.deepEqual(await listed(`&created[gte]=${late.created}`), [late.id]);
  world.loseEvent(change());
  world.releaseEvents();
  const again = world.repeatEvent(first);
  assert.deepEqual(new Set(await listed()), new Set([first.id, late.id, again.id]));
  assert.deepEqual(await all('events?type=invoice.*'), []);
  clock.advance(31 * 24 * 60 * 60 * 1000);
  assert.deepEqual(await listed(), []);
});

test('records events in the version of the account, and signs them', () => {
  const past = new StripeWorld({ clock, apiVersion: '2024-06-20' });
  addCases(past, cases.slice(0, 1));
  const { subscription } = cases[0] ?? assert.fail();
  const [event = assert.fail()] = past.change(
    'subscription',
    subscription.id,
    (each) => {
      each['cancel_at_period_end'] = true;
    },
    'customer.subscription.updated',
  );
  assert.equal(event.api_version, '2024-06-20');
  assert.equal(typeof event.data.object['current_period_end'], 'number');
  assert.deepEqual(event.data.previous_attributes, { cancel_at_period_end: false });
  const secret = 'whsec_ofTheAccount';
  const { headers, body } = webhookOf(event, secret, past.now);
  const claim = readClaim(headers, clock, schemes.stripe) ?? assert.fail();
  assert.ok(isSigned(claim, [secret], Buffer.from(body)));
  assert.ok(!isSigned(claim, [secret], Buffer.from(`${body} `)));
});

test('fails a test whose answers the document does not permit', async () => {
  const other = await startStripe(world);
  world.add('coupon', { id: 'wrong', percent_off: '10' });
  const response = await fetch(`${other.baseUrl}/v1/coupons/wrong`, {
    headers: { authorization: `Bearer ${other.key}` },
  });
  assert.equal(response.status, 500);
  await assert.rejects(other.close(), /coupons\/wrong\.percent_off is no number/);
});
