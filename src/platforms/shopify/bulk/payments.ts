import { isObject } from '../../../json.ts';
import { parseGid } from '../api/ids.ts';
import { readAttempt } from '../mapping/attempts.ts';
import { type Node, type ShopMoney, Refusal, numberOfGid, objectOf } from '../mapping/fields.ts';
import { statuses } from '../mapping/payments.ts';
import type { ReportedPayment } from '../store/syncs.ts';
import type { DownloadedResult } from './bulk-query.ts';

const contractOf = numberOfGid('SubscriptionContract');

/** Of billing attempts, or of lines of refunded orders. What is not valid is left to the next full sync, which refuses it. */
export async function readPayments(
  { source }: DownloadedResult,
  shop: ShopMoney,
): Promise<ReportedPayment[]> {
  const payments: ReportedPayment[] = [];
  for await (const lines of source?.lines ?? []) {
    for (const { text } of lines) {
      try {
        const payment = readPayment(JSON.parse(text), shop);
        if (payment) payments.push(payment);
      } catch (error) {
        if (!(error instanceof Refusal || error instanceof SyntaxError)) throw error;
      }
    }
  }
  return payments;
}

function readPayment(node: Node, shop: ShopMoney): ReportedPayment | undefined {
  const { type, key = '' } = parseGid(node['id']) ?? {};
  if (type === 'SubscriptionBillingAttempt') {
    const { id: attempt, outcome, order } = readAttempt(key, node, shop);
    const contract = contractOf(objectOf(node, 'subscriptionContract'), 'id');
    return { contract, attempt, status: statuses[outcome].status, amount: order?.amount ?? null };
  }
  if (!isObject(node['contract'])) return undefined;
  return { contract: contractOf(node['contract'], 'id'), attempt: 0, status: '', amount: null };
}
