import { isoTime } from '../iso-time.ts';
import type { Field } from '../records/fields.ts';
import { isInFuture, lyingInFuture } from '../records/future.ts';
import { deletionOrder, namedFields } from '../records/records.ts';
import type { ImportRecord } from '../records/schema.ts';
import type { Clock } from '../clock.ts';
import type { Line } from './lines.ts';

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

const fields = deletionOrder.flatMap(namedFields);
const inLists = fields.flatMap(([, field]) =>
  'fields' in field ? Object.entries(field.fields) : [],
);
/** The names of all fields that hold a time. */
const times = namesOf([...fields, ...inLists], ({ kind }) => kind === 'time');
const pastTimes = namesOf(fields, (field) => field.kind === 'time' && field.isPast === true);

function namesOf(all: readonly [string, Field][], has: (field: Field) => boolean): Set<string> {
  return new Set(all.filter(([, field]) => has(field)).map(([name]) => name));
}

/** What is wrong with the times of such a record, undefined if nothing is. */
export function problemOfTimes(record: ImportRecord, clock: Clock): string | undefined {
  const values = record as Readonly<Record<string, unknown>>;
  const problems: string[] = [];
  for (const name of pastTimes) {
    const at = values[name];
    if (typeof at !== 'number' || !isInFuture(at, clock)) continue;
    problems.push(`${name} ${lyingInFuture(at)}`);
  }
  return problems.length === 0 ? undefined : problems.join('; ');
}
