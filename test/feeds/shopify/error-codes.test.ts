import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomesByCode } from '../../../src/platforms/shopify/mapping/attempts.ts';
import { attempt, billed, contract, failure, line, success } from './nodes.ts';
import { recordsOf } from './records-of.ts';
import { enumValues, readSchema, versions } from './schema/schema.ts';

const at = '2026-11-05T11:00:00Z';

for (const version of versions) {
  const schema = readSchema(version);
  test(`the table has the error codes of the API version ${version}`, () => {
    const names = ['', 'General', 'Inventory', 'Payment'].map(
      (kind) => `SubscriptionBillingAttempt${kind}ErrorCode`,
    );
    for (const name of names) {
      const codes = enumValues(schema, name);
      assert.notEqual(codes.length, 0);
      assert.deepEqual(
        codes.filter((code) => !outcomesByCode.has(code)),
        [],
      );
    }
  });
}

/** What becomes of a failed attempt, in the form of each API version. */
async function paymentsOf(code: string, field: Parameters<typeof failure>[1]) {
  const forms = [billed(1, 7, at, failure(code, field)), attempt(1, 7, at, { errorCode: code })];
  return Promise.all(
    forms.map(async (form) => {
      const { payments } = await recordsOf([contract(1), line(1, 1), form]);
      return ['status', 'failureKind', 'amount', 'failureCode'].map((name) => payments[0]?.[name]);
    }),
  );
}

test('an error code decides what became of an attempt, in each API version', async () => {
  const cases: [string, Parameters<typeof failure>[1], string, string | null, string][] = [
    ['CARD_DECLINED', 'paymentCode', 'failed', 'payment', '15.3'],
    ['AUTHENTICATION_REQUIRED', 'paymentCode', 'failed', 'payment', '15.3'],
    ['PAYMENT_PROVIDER_IS_NOT_ENABLED', 'generalCode', 'failed', 'payment', '15.3'],
    ['INSUFFICIENT_INVENTORY', 'inventoryCode', 'failed', 'inventory', '15.3'],
    ['INVENTORY_ALLOCATIONS_NOT_FOUND', 'inventoryCode', 'failed', 'inventory', '15.3'],
    ['INVOICE_ALREADY_PAID', 'paymentCode', 'succeeded', null, '0'],
    ['TEST_MODE', 'paymentCode', 'pending', null, '0'],
    ['FREE_GIFT_CARD_NOT_ALLOWED', 'generalCode', 'pending', null, '0'],
    ['NON_TEST_ORDER_LIMIT_REACHED', 'generalCode', 'pending', null, '0'],
    ['PAYMENT_METHOD_INCOMPATIBLE_WITH_GATEWAY_CONFIG', 'generalCode', 'pending', null, '0'],
    ['A_CODE_THAT_COMES_LATER', 'paymentCode', 'failed', 'payment', '15.3'],
  ];
  for (const [code, field, ...rest] of cases) {
    const expected = [...rest, rest[0] === 'failed' ? code : undefined];
    assert.deepEqual(await paymentsOf(code, field), [expected, expected], code);
  }
});

test('the other states of an attempt are read as what they are', async () => {
  const states: [state: object, status: string][] = [
    [{ __typename: 'SubscriptionBillingAttemptPendingState' }, 'pending'],
    [{ __typename: 'SubscriptionBillingAttemptActionRequiredState' }, 'pending'],
    [{ __typename: 'SubscriptionBillingAttemptSuccessState', order: null }, 'succeeded'],
    [
      {
        __typename: 'SubscriptionBillingAttemptFailedState',
        error: { __typename: 'SubscriptionBillingAttemptUnexpectedError' },
      },
      'failed',
    ],
  ];
  for (const [state, status] of states) {
    const { payments } = await recordsOf([contract(1), line(1, 1), billed(1, 7, at, state)]);
    assert.equal(payments[0]?.['status'], status);
  }
});

test('an invoice that was paid already is paid for, once', async () => {
  const paidThroughFrom = async (createdAt: string, ...attempts: object[]) => {
    const unknown = { createdAt, originOrder: null, lastPaymentStatus: 'FAILED' };
    const { subscriptions } = await recordsOf([contract(1, unknown), line(1, 1), ...attempts]);
    return subscriptions[0]?.['paidThroughAt'];
  };
  const paidThrough = (...attempts: object[]) =>
    paidThroughFrom('2026-03-01T09:00:00Z', ...attempts);
  const alreadyPaid = billed(1, 8, at, failure('INVOICE_ALREADY_PAID'));
  assert.equal(await paidThrough(alreadyPaid), '2026-12-05T11:00:00.000Z');
  // The invoice was that of another attempt, whose period has begun.
  const paid = (due: string) => billed(1, 7, due, success(null));
  const soonPaid = paid('2026-11-03T11:00:00Z');
  assert.equal(await paidThrough(soonPaid, alreadyPaid), '2026-12-03T11:00:00.000Z');
  // A period ends where the next begins: exactly one interval on, it is another invoice.
  const dueAtEnd = [paid('2026-10-05T11:00:00Z'), alreadyPaid];
  assert.equal(await paidThrough(...dueAtEnd), '2026-12-05T11:00:00.000Z');
  const dueBefore = [paid('2026-10-05T11:00:01Z'), alreadyPaid];
  assert.equal(await paidThrough(...dueBefore), '2026-11-05T11:00:01.000Z');
  // What was due when the contract began is that of the order that it began with, which is not shown here.
  assert.equal(await paidThroughFrom(at, alreadyPaid), null);
  assert.equal(
    await paidThroughFrom('2026-10-05T11:00:00Z', alreadyPaid),
    '2026-12-05T11:00:00.000Z',
  );
});
