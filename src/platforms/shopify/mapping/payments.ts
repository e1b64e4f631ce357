import type { RecordOf } from '../../../records/records.ts';
import { priceOf } from '../../../ingest/rows.ts';
import { ownNumber } from '../../../own-number.ts';
import { type BillingAttempt, type Outcome, cyclesOf, nameCycle } from './attempts.ts';
import type { Contract, ContractLine } from './nodes.ts';
import { shareOf, takeShare } from './orders.ts';

/** A payment, and what was returned of it. */
export interface PaymentRecords {
  readonly payment: RecordOf<'payment'>;
  readonly refunds: readonly RecordOf<'refund'>[];
}

export interface ContractPayments {
  /** Of the order that the contract began with; null if its amount is unknown. */
  readonly first: PaymentRecords | null;
  /** In the order of the attempts. */
  readonly ofAttempts: readonly PaymentRecords[];
}

export const statuses = {
  succeeded: { status: 'succeeded', failureKind: null },
  alreadyPaid: { status: 'succeeded', failureKind: null },
  failed: { status: 'failed', failureKind: 'payment' },
  outOfStock: { status: 'failed', failureKind: 'inventory' },
  pending: { status: 'pending', failureKind: null },
  // Not left out, so that it replaces what was stored while it was pending.
  void: { status: 'pending', failureKind: null },
} as const satisfies Record<Outcome, object>;

const noRefunds: PaymentRecords['refunds'] = [];

export function paymentsOf(
  contract: Contract,
  lines: readonly ContractLine[],
  attempts: readonly BillingAttempt[],
  minorDigits: number,
): ContractPayments {
  if (attempts.length === 0 && !contract.firstOrder) return { first: null, ofAttempts: [] };
  const price = priceOf(lines);
  const cycles = cyclesOf(attempts, contract.billing);
  const ofAttempts = attempts.map((attempt): PaymentRecords => {
    const { id, order, outcome } = attempt;
    const { amount, preserve } = amountOf(attempt, price);
    const payment = {
      type: 'payment' as const,
      id,
      subscriptionId: contract.id,
      cycle: cycles.get(attempt) ?? '',
      ...statuses[outcome],
      failureCode: statuses[outcome].status === 'failed' ? attempt.code : undefined,
      amount,
      ...timesOf(contract, attempt.completedAt ?? attempt.createdAt),
      preserve,
    };
    if (!order || order.refunds.length === 0) return { payment, refunds: noRefunds };
    const refunds = order.refunds.map((refund) => ({
      type: 'refund' as const,
      id: refund.id,
      paymentId: id,
      amount: refund.amount,
      refundedAt: refund.refundedAt,
      updatedAt: null,
    }));
    return { payment, refunds };
  });
  const taken = new Set(cycles.values());
  return { first: firstPayment(contract, lines, price, taken, minorDigits), ofAttempts };
}

/** What is not known from an order is estimated, unless an amount is stored already. */
function amountOf(
  { outcome, order }: BillingAttempt,
  price: string,
): Pick<RecordOf<'payment'>, 'amount' | 'preserve'> {
  if (outcome === 'void' || outcome === 'alreadyPaid') return { amount: '0', preserve: undefined };
  return order
    ? { amount: order.amount, preserve: undefined }
    : { amount: price, preserve: 'amount' };
}

function timesOf(contract: Contract, processedAt: number) {
  return {
    processedAt,
    // A settled attempt must replace its pending record even if the contract did not change.
    updatedAt: Math.max(contract.updatedAt, processedAt),
  };
}

/**
 * The contract's share of the order that it began with. Ids are derived: one order may have begun
 * several contracts. Where only a share is the contract's, it depends on the contract's lines, so
 * the first one stays when they change.
 */
function firstPayment(
  contract: Contract,
  lines: readonly ContractLine[],
  price: string,
  taken: Set<string>,
  minorDigits: number,
): PaymentRecords | null {
  const { id: subscriptionId, firstOrder } = contract;
  if (!firstOrder || firstOrder.isTest) return null;
  const quantity = lines.reduce((sum, line) => sum + line.quantity, 0);
  const share = shareOf(firstOrder, { quantity, price });
  const preserve = share.part === share.whole ? undefined : ('amount' as const);
  const id = ownNumber(`Order: ${subscriptionId} ${firstOrder.id}`);
  const refunds = firstOrder.refunds.map((refund) => ({
    type: 'refund' as const,
    id: ownNumber(`Refund: ${subscriptionId} ${refund.id}`),
    paymentId: id,
    amount: takeShare(refund.amount, share, minorDigits),
    refundedAt: refund.refundedAt,
    updatedAt: null,
    preserve,
  }));
  return {
    payment: {
      type: 'payment',
      id,
      subscriptionId,
      cycle: nameCycle(firstOrder.processedAt, taken),
      ...statuses.succeeded,
      amount: takeShare(firstOrder.amount, share, minorDigits),
      ...timesOf(contract, firstOrder.processedAt),
      preserve,
    },
    refunds,
  };
}
