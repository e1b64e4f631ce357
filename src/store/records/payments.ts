import type { Row } from '../../records/columns.ts';
import type { PaymentStatus } from '../../vocabulary.ts';
import type { Transaction } from '../database.ts';
import { type Judged, type Stored, judge, writeJudged } from './writing.ts';

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
  payments: readonly Row<'payment'>[],
  known: ReadonlySet<number>,
): Promise<Judged[]> {
  const columns = 's.amount, s.status';
  const judged = await judge<Row<'payment'>, StoredPayment>(tx, shopId, 'payment', payments, {
    known,
    columns,
  });
  await writeJudged(tx, shopId, 'payment', judged, (row, before) => {
    if (row.preserve !== 'amount') return row;
    const status = isVoid(before) ? before.status : row.status;
    return { ...row, status, amount: before.amount };
  });
  return judged;
}

/**
 * A refund waits if its payment is not stored.
 * @param refunds with different ids
 */
export async function upsertRefunds(
  tx: Transaction,
  shopId: number,
  refunds: readonly Row<'refund'>[],
): Promise<Judged[]> {
  const columns = 's.amount';
  const judged = await judge<Row<'refund'>, StoredAmount>(tx, shopId, 'refund', refunds, {
    columns,
  });
  await writeJudged(tx, shopId, 'refund', judged, (row, before) =>
    row.preserve === 'amount' ? { ...row, amount: before.amount } : row,
  );
  return judged;
}
