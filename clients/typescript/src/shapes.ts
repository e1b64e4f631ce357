// Written by "npm run generate" from the catalogue of operations.

import type { Shape } from './shape.ts';

export const shapes = {
  "getEntitlements": {
    "subscriptions": [
      {
        "subscriptionId": "a whole number",
        "planId": "a whole number",
        "planName": "a text",
        "planType": "a text",
        "status": "a text",
        "isEntitled": "a boolean",
        "paidThroughAt": "a time or null"
      }
    ]
  },
  "listSubscriptions": {
    "subscriptions": [
      {
        "subscriptionId": "a whole number",
        "customerId": "a whole number",
        "status": "a text",
        "planId": "a whole number",
        "planName": "a text",
        "planType": "a text",
        "currentPrice": "a number",
        "nextBillingDate": "a time or null",
        "createdAt": "a time"
      }
    ],
    "nextCursor": "a text or null"
  },
  "getSubscription": {
    "subscription": {
      "subscriptionId": "a whole number",
      "customerId": "a whole number",
      "status": "a text",
      "planId": "a whole number",
      "planName": "a text",
      "planType": "a text",
      "currentPrice": "a number",
      "nextBillingDate": "a time or null",
      "createdAt": "a time",
      "lineItems": [
        {
          "lineId": "a whole number",
          "productId": "a whole number",
          "productTitle": "a text",
          "variantId": "a whole number",
          "variantTitle": "a text",
          "quantity": "a whole number",
          "currentPrice": "a number"
        }
      ]
    }
  },
  "getMetricsSummary": {
    "summary": {
      "activeSubscribers": "a whole number",
      "pausedSubscribers": "a whole number",
      "mrr": "a number",
      "revenue30d": "a number",
      "newSubscribers30d": "a whole number",
      "cancelled30d": "a whole number",
      "churnRate30d": "a number",
      "saveRate": "a number",
      "cancelSessions30d": "a whole number",
      "dunningActive": "a whole number",
      "recoveryRate": "a number",
      "failedPayments30d": "a whole number",
      "avgSubscriptionValue": "a number",
      "upcomingRenewals7d": "a whole number",
      "upcomingRenewalsValue7d": "a number",
      "generatedAt": "a time",
      "currency": "a text"
    }
  },
  "listPlans": {
    "plans": [
      {
        "id": "a whole number",
        "name": "a text",
        "groupName": "a text",
        "intervalUnit": "a text",
        "intervalCount": "a whole number",
        "active": "a boolean",
        "productCount": "a whole number",
        "pricing": {
          "discountType": "a text",
          "discountValue": "a number",
          "summary": "a text"
        }
      }
    ]
  },
  "listCancellations": {
    "cancellations": [
      {
        "sessionId": "a whole number",
        "detectedReason": "a text",
        "outcome": "a text or null",
        "offerType": "a text or null",
        "createdAt": "a time"
      }
    ],
    "nextCursor": "a text or null"
  }
} satisfies Record<string, Shape>;
