import { isoTime } from '../iso-time.ts';
import { isInFuture, lyingInFuture } from '../records/future.ts';
import type { Clock } from '../clock.ts';
import type { Line } from './lines.ts';
import type { ImportRecord } from '../records/schema.ts';

type RecordParts = Pick<Line, 'number' | 'source' | 'warning'> & { readonly record: ImportRecord };

/**
 * A line for a record that a feed has made from checked values, so that of all that is checked in a line only
 * its times are left. Its text is generated only on access, when the record has to wait or is refused.
 */
export function recordLineOf({ number, record, source, warning }: RecordParts): Line {
  return new RecordLine(number, record, source, warning);
}

/** A class, so that a million of them share one getter. */
class RecordLine implements Line {
  readonly number: number;
  readonly record: ImportRecord;
  readonly source: string | undefined;
  readonly warning: string | undefined;

  constructor(
    number: number,
    record: ImportRecord,
    source: string | undefined,
    warning: string | undefined,
  ) {
    this.number = number;
    this.record = record;
    this.source = source;
    this.warning = warning;
  }

  get text(): string {
    return JSON.stringify(this.record, (name, value: unknown) =>
      times.has(name) && typeof value === 'number' ? isoTime(value) : value,
    );
  }
}

const pastTimes = ['createdAt', 'updatedAt', 'processedAt', 'refundedAt'] as const;
/** All fields that hold a time; `at` is that of a status event. */
const times: ReadonlySet<string> = new Set([
  ...pastTimes,
  'at',
  'nextBillingDate',
  'paidThroughAt',
]);

/** What is wrong with the times of such a record, undefined if nothing is. */
export function problemOfTimes(record: ImportRecord, clock: Clock): string | undefined {
  const fields = record as { readonly [Time in (typeof pastTimes)[number]]?: number | null };
  const problems = pastTimes.flatMap((name) => {
    const at = fields[name];
    return typeof at === 'number' && isInFuture(at, clock) ? `${name} ${lyingInFuture(at)}` : [];
  });
  return problems.length === 0 ? undefined : problems.join('; ');
}
