import type { FailureKind, PaymentStatus } from '../../vocabulary.ts';
import type { Transaction } from '../database.ts';
import { type Incoming, type Judged, type Stored, isWritten, judge } from './verdict.ts';
import { rowsOf } from './writing.ts';

/** Times are ISO 8601, amounts decimals. */
export interface NewPayment extends Incoming {
  readonly subscriptionId: number;
  readonly cycle: string;
  readonly status: PaymentStatus;
  readonly failureKind: FailureKind | null;
  readonly failureCode: string | null;
  readonly amount: string;
  readonly processedAt: string;
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
 */
export async function upsertPayments(
  tx: Transaction,
  shopId: number,
  payments: readonly NewPayment[],
): Promise<Judged[]> {
  const judged = await judge<NewPayment, StoredPayment>(tx, shopId, payments, {
    kind: 'payment',
    parent: { kind: 'subscription', idOf: ({ subscriptionId }) => subscriptionId },
    columns: 's.amount, s.status',
  });
  const rows = judged.filter(isWritten).map(({ row, before }) => {
    if (!before || row.keeps !== 'amount') return row;
    const status = isVoid(before) ? before.status : row.status;
    return { ...row, status, amount: before.amount };
  });
  if (rows.length === 0) return judged;
  const columns = {
    id: 'bigint',
    subscriptionId: 'bigint',
    cycle: 'text',
    status: 'text',
    failureKind: 'text',
    failureCode: 'text',
    amount: 'numeric',
    processedAt: 'timestamptz',
    updatedAt: 'timestamptz',
    digest: 'uuid',
  };
  await tx`
    insert into payments (shop_id, payment_id, subscription_id, cycle, status, failure_kind,
      failure_code, amount, processed_at, updated_at, digest)
    ${rowsOf(tx, shopId, columns, rows)}
    on conflict (shop_id, payment_id) do update set
      subscription_id = excluded.subscription_id, cycle = excluded.cycle,
      status = excluded.status, failure_kind = excluded.failure_kind,
      failure_code = excluded.failure_code, amount = excluded.amount,
      processed_at = excluded.processed_at, updated_at = excluded.updated_at,
      digest = excluded.digest`;
  return judged;
}

/** Times are ISO 8601, amounts decimals. */
export interface NewRefund extends Incoming {
  readonly paymentId: number;
  readonly amount: string;
  readonly refundedAt: string;
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
    id: 'bigint',
    paymentId: 'bigint',
    amount: 'numeric',
    refundedAt: 'timestamptz',
    updatedAt: 'timestamptz',
    digest: 'uuid',
  };
  await tx`
    insert into refunds (shop_id, refund_id, payment_id, amount, refunded_at, updated_at, digest)
    ${rowsOf(tx, shopId, columns, rows)}
    on conflict (shop_id, refund_id) do update set
      payment_id = excluded.payment_id, amount = excluded.amount,
      refunded_at = excluded.refunded_at, updated_at = excluded.updated_at,
      digest = excluded.digest`;
  return judged;
}
