import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPlatform } from '../../src/platforms/registry.ts';
import type { RecordKind } from '../../src/store/records/export-dates.ts';

test('a platform says where its own pages show customers and subscriptions', () => {
  const pageOf = (name: string, kind: RecordKind, id: string, account?: string) =>
    findPlatform(name)?.pageOf?.(kind, id, account);
  const stripe = 'https://dashboard.stripe.com';
  const recharge = 'https://tea-sp.admin.rechargeapps.com/merchant';
  for (const [name, kind, id, account, expected] of [
    ['stripe', 'customer', 'cus_1', undefined, `${stripe}/customers/cus_1`],
    ['stripe', 'customer', 'cus_1', 'acct_9', `${stripe}/acct_9/customers/cus_1`],
    [
      'stripe',
      'subscription',
      'sub_1',
      'acct_9 (test)',
      `${stripe}/acct_9/test/subscriptions/sub_1`,
    ],
    ['stripe', 'payment', 'ch_1', 'acct_9', undefined],
    // Of Paddle.
    ['stripe', 'customer', 'ctm_1', 'acct_9', undefined],
    ['stripe', 'subscription', 'sub_01hv8x29kz0t586xy6zn1a62ny', undefined, undefined],
    ['stripe', 'customer', '501', 'acct_9', undefined],
    [
      'shopify',
      'customer',
      'gid://shopify/Customer/7',
      'tea.myshopify.com',
      'https://admin.shopify.com/store/tea/customers/7',
    ],
    ['shopify', 'customer', 'gid://shopify/Customer/7', undefined, undefined],
    ['shopify', 'customer', 'cus_1', 'tea.myshopify.com', undefined],
    [
      'shopify',
      'subscription',
      'gid://shopify/SubscriptionContract/7',
      'tea.myshopify.com',
      undefined,
    ],
    ['recharge', 'customer', '7', 'tea.myshopify.com', `${recharge}/customers/7`],
    ['recharge', 'subscription', '7', 'tea.myshopify.com', `${recharge}/subscriptions/7/details`],
    ['recharge', 'payment', '7', 'tea.myshopify.com', undefined],
    ['recharge', 'customer', '7', 'Tea & more', undefined],
    ['recharge', 'customer', '7', undefined, undefined],
    ['recharge', 'customer', 'a/b', 'tea.myshopify.com', undefined],
    ['postgres', 'customer', '7', 'db.example.com/billing', undefined],
  ] as const) {
    assert.equal(pageOf(name, kind, id, account), expected, `${name} ${kind} ${id} ${account}`);
  }
});
