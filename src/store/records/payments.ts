import type { FailureKind, PaymentStatus } from '../../vocabulary.ts';
import type { Transaction } from '../database.ts';
import {
  type Incoming,
  type Judged,
  type Stored,
  isAnyReplaced,
  isWritten,
  judge,
} from './verdict.ts';
import { insertRows } from './writing.ts';

/** Times are epoch milliseconds, amounts decimals. */
export interface NewPayment extends Incoming {
  readonly subscriptionId: number;
  readonly cycle: string;
  readonly status: PaymentStatus;
  readonly failureKind: FailureKind | null;
  readonly failureCode: string | null;
  readonly amount: string;
  readonly processedAt: number;
  /** Whether a stored amount stays. */
  readonly keeps?: 'amount' | undefined;
}

interface StoredAmount extends Stored {
  readonly amount: string;
}

interface StoredPayment extends StoredAmount {
  readonly status: PaymentStatus;
}

/** A payment that was found to be none, such as a test, stays none when its amount is unknown. */
const isVoid = ({ status, amount }: StoredPayment) => status === 'pending' && Number(amount) === 0;

/**
 * A payment waits if its subscription is not stored.
 * @param payments with different ids
 * @param known subscriptions that need not be looked up, because they are stored
 */
export async function upsertPayments(
  tx: Transaction,
  shopId: number,
  payments: readonly NewPayment[],
  known: ReadonlySet<number>,
): Promise<Judged[]> {
  const judged = await judge<NewPayment, StoredPayment>(tx, shopId, payments, {
    kind: 'payment',
    parent: { kind: 'subscription', idOf: ({ subscriptionId }) => subscriptionId, known },
    columns: 's.amount, s.status',
  });
  const rows = judged.filter(isWritten).map(({ row, before }) => {
    if (!before || row.keeps !== 'amount') return row;
    const status = isVoid(before) ? before.status : row.status;
    return { ...row, status, amount: before.amount };
  });
  if (rows.length === 0) return judged;
  const columns = {
    id: 'payment_id bigint',
    subscriptionId: 'subscription_id bigint',
    cycle: 'cycle text',
    status: 'status text',
    failureKind: 'failure_kind text',
    failureCode: 'failure_code text',
    amount: 'amount numeric',
    processedAt: 'processed_at timestamptz',
    updatedAt: 'updated_at timestamptz',
    digest: 'digest uuid',
  };
  await insertRows(
    tx,
    shopId,
    { table: 'payments', columns, replacing: isAnyReplaced(judged) ? 'payment_id' : undefined },
    rows,
  );
  return judged;
}

/** Times are epoch milliseconds, amounts decimals. */
export interface NewRefund extends Incoming {
  readonly paymentId: number;
  readonly amount: string;
  readonly refundedAt: number;
  /** Whether a stored amount stays. */
  readonly keeps?: 'amount' | undefined;
}

/**
 * A refund waits if its payment is not stored.
 * @param refunds with different ids
 */
export async function upsertRefunds(
  tx: Transaction,
  shopId: number,
  refunds: readonly NewRefund[],
): Promise<Judged[]> {
  const judged = await judge<NewRefund, StoredAmount>(tx, shopId, refunds, {
    kind: 'refund',
    parent: { kind: 'payment', idOf: ({ paymentId }) => paymentId },
    columns: 's.amount',
  });
  const rows = judged
    .filter(isWritten)
    .map(({ row, before }) =>
      before && row.keeps === 'amount' ? { ...row, amount: before.amount } : row,
    );
  if (rows.length === 0) return judged;
  const columns = {
    id: 'refund_id bigint',
    paymentId: 'payment_id bigint',
    amount: 'amount numeric',
    refundedAt: 'refunded_at timestamptz',
    updatedAt: 'updated_at timestamptz',
    digest: 'digest uuid',
  };
  await insertRows(
    tx,
    shopId,
    { table: 'refunds', columns, replacing: isAnyReplaced(judged) ? 'refund_id' : undefined },
    rows,
  );
  return judged;
}
