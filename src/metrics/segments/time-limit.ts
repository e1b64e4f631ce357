import { CommandError } from '../../errors.ts';
import type { Sql, Transaction } from '../../store/database.ts';

/** How long reading a page's figures or rows of a segment may take. */
export const segmentMilliseconds = 10_000;

/** A segment has so many records that reading them took too long. */
export class SegmentTooLarge extends CommandError {}

/** Runs a statement once those before it have ended. */
export type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>;

/**
 * Runs statements that together take at most as long as the limit, one after the other, on one state of the data.
 * @throws SegmentTooLarge if they take longer
 */
export async function withinTimeLimit<Result>(
  sql: Sql,
  milliseconds: number,
  work: (tx: Transaction, inTurn: InTurn) => Promise<Result>,
): Promise<Result> {
  try {
    return await sql.begin('isolation level repeatable read read only', (tx) => {
      let last: Promise<unknown> = Promise.resolve();
      return work(tx, (read) => {
        const result = last.then(() => limitRest(tx, milliseconds)).then(read);
        last = result;
        return result;
      });
    });
  } catch (error) {
    if (!isCancelled(error)) throw error;
    throw new SegmentTooLarge(
      `What a segment has is computed from its records, and that took longer than ${milliseconds / 1000} s. Choose a smaller segment or a shorter period.`,
      { cause: error },
    );
  }
}

/** Limits the next statement to what is left since the transaction began. */
const limitRest = (tx: Transaction, milliseconds: number) => tx`
  select set_config('statement_timeout', greatest(1, round(${milliseconds}
    - extract(epoch from clock_timestamp() - transaction_timestamp()) * 1000))::text, true)`;

/** PostgreSQL's query_canceled. */
const isCancelled = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '57014';
