import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { NoDeprecatedCustomRule, introspectionFromSchema, parse, validate } from 'graphql';
import { intervalOf } from '../../../../src/platforms/shopify/mapping/fields.ts';
import { readContract, readSellingPlan } from '../../../../src/platforms/shopify/mapping/nodes.ts';
import { subscribedTopics } from '../../../../src/platforms/shopify/webhooks/topics.ts';
import { contract, sellingPlan } from '../nodes.ts';
import { bulkProblem } from './bulk-limits.ts';
import { bulkDocuments, documents } from './documents.ts';
import { reduceSchema } from './reduction.ts';
import { enumValues, readSchema, schemaPath, versions } from './schema.ts';

const usd = { currency: 'USD', minorDigits: 2 };

for (const version of versions) {
  const schema = readSchema(version);
  const valuesOf = (name: string) => enumValues(schema, name);

  describe(`version ${version} of the Admin API`, () => {
    test('has everything that the documents ask for', () => {
      assert.ok(documents.size > 10);
      for (const [name, text] of documents) {
        assert.deepEqual(validate(schema, parse(text)).map(String), [], name);
      }
    });

    test('deprecates none of it', () => {
      for (const [name, text] of documents) {
        const deprecated = validate(schema, parse(text), [NoDeprecatedCustomRule]);
        assert.deepEqual(deprecated.map(String), [], name);
      }
    });

    test('accepts the bulk queries', () => {
      assert.ok(bulkDocuments.length >= 4);
      for (const [name, text] of bulkDocuments) {
        assert.equal(bulkProblem(schema, text), undefined, name);
      }
    });

    test('is kept reduced to what the documents reach', () => {
      const kept = readFileSync(schemaPath(version), 'utf8');
      assert.equal(reduceSchema(introspectionFromSchema(schema), documents), kept);
    });

    test('has only values of enums that the mapping translates', () => {
      for (const status of valuesOf('SubscriptionContractSubscriptionStatus')) {
        readContract('1', { ...contract(1), status }, usd);
      }
      for (const interval of valuesOf('SellingPlanInterval')) {
        assert.equal(
          intervalOf({ policy: { interval, intervalCount: 1 } }, 'policy').unit,
          interval.toLowerCase(),
        );
      }
      const money = { percentage: 10, amount: '10.0', currencyCode: 'USD' };
      for (const adjustmentType of valuesOf('SellingPlanPricingPolicyAdjustmentType')) {
        const pricingPolicies = [{ adjustmentType, adjustmentValue: money }];
        const { pricing } = readSellingPlan('1', { ...sellingPlan(1, 1), pricingPolicies }, usd);
        assert.equal(pricing.discountType, adjustmentType.toLowerCase());
      }
    });

    // The code picks some values and treats the rest alike. A new value needs a decision.
    test('has no new value in an enum of which some values matter', () => {
      const known = {
        BulkOperationErrorCode: ['ACCESS_DENIED', 'INTERNAL_SERVER_ERROR', 'TIMEOUT'],
        BulkOperationStatus:
          'CANCELED, CANCELING, COMPLETED, CREATED, EXPIRED, FAILED, RUNNING'.split(', '),
        BulkOperationUserErrorCode: ['INVALID', 'LIMIT_REACHED', 'OPERATION_IN_PROGRESS'],
        SellingPlanCategory: ['OTHER', 'PRE_ORDER', 'SUBSCRIPTION', 'TRY_BEFORE_YOU_BUY'],
        SubscriptionContractLastPaymentStatus: ['FAILED', 'SUCCEEDED'],
      };
      const found = Object.keys(known).map((name) => [name, valuesOf(name)]);
      assert.deepEqual(Object.fromEntries(found), known);
    });

    test('has the webhook topics that the service subscribes to, and no others of its kinds', () => {
      const own = /^(?:SUBSCRIPTION|SELLING_PLAN)_/;
      const topics = valuesOf('WebhookSubscriptionTopic');
      const expected = topics.filter((each) => own.test(each) || each === 'APP_UNINSTALLED');
      const subscribed = subscribedTopics.map((each) => each.replace('/', '_').toUpperCase());
      assert.deepEqual(subscribed.toSorted(), expected.toSorted());
    });

    test('has the webhook topics that the documentation says to subscribe to', () => {
      const manual = readFileSync(
        path.join(import.meta.dirname, '../../../../docs/shopify.md'),
        'utf8',
      );
      const [, list = ''] =
        /three compliance topics ([\s\S]*?)\n\nNothing but numbers/.exec(manual) ?? [];
      const named = list.match(/(?<=`)[a-z_]+\/[a-z_*]+(?=`)/g) ?? [];
      assert.ok(named.length >= 8);
      const topics = valuesOf('WebhookSubscriptionTopic');
      const missing = named.filter((topic) => {
        const [start = ''] = topic.replace('/', '_').toUpperCase().split('*');
        return !topics.some((each) =>
          topic.endsWith('*') ? each.startsWith(start) : each === start,
        );
      });
      // These are part of the app's configuration.
      const compliance = ['customers/data_request', 'customers/redact', 'shop/redact'];
      assert.deepEqual(missing, compliance);
    });
  });
}

describe('the limits of a bulk query', () => {
  const schema = readSchema(versions[0]);
  const attempts = 'billingAttempts { edges { node { id } } }';
  const contracts = (fields: string) =>
    `{ subscriptionContracts { edges { node { ${fields} } } } }`;
  const aliased = (count: number) =>
    Array.from({ length: count }, (_, index) => `a${index}: ${attempts}`).join(' ');
  const problems: readonly (readonly [text: string, problem: string | undefined])[] = [
    [contracts(`id ${aliased(4)}`), undefined],
    [contracts(`id ${aliased(5)}`), 'A bulk query has at most five connections'],
    [
      `{ sellingPlanGroups { edges { node { sellingPlans { edges { node { id } } } } } } nodes(ids: []) { id } }`,
      'A bulk query has one top-level field',
    ],
    ['{ nodes(ids: []) { id } }', 'A bulk query cannot begin with a node'],
    ['{ subscriptionContract(id: "1") { id } }', 'A bulk query has at least one connection'],
    [
      contracts(`billingAttempts { edges { node { subscriptionContract { ${attempts} } } } }`),
      'Connections are nested at most two levels deep',
    ],
  ];
  for (const [text, problem] of problems) {
    test(problem ?? 'are met by five connections', () => {
      assert.deepEqual(validate(schema, parse(text)).map(String), []);
      assert.equal(bulkProblem(schema, text), problem);
    });
  }
});
