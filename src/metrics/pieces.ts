import type { Sql, Transaction } from '../store/database.ts';
import type { Bounds, Interval } from './bounds.ts';

/** The whole days, hours and minutes of an interval, as far as they are stored. */
export function piecesOf(sql: Sql | Transaction, { pieces }: Bounds) {
  const list = (field: keyof (typeof pieces)[number]) =>
    `{${pieces.map((piece) => piece[field]).join(',')}}`;
  return sql`
    select piece.* from kept
    join unnest(${list('grain')}::text[], ${list('from')}::timestamptz[],
      ${list('until')}::timestamptz[]) piece (grain, since, until)
      on piece.grain = 'day' or kept.since <= piece.since`;
}

/** The remainders of an interval: shorter than a minute, or parts of days if nothing smaller is stored. */
export function endsOf(sql: Sql | Transaction, { ends }: Bounds) {
  const list = (field: keyof (typeof ends)[number]) =>
    `{${ends.map((end) => end[field]).join(',')}}`;
  return sql`
    select e.since, e.until from kept
    join unnest(${list('isFine')}::boolean[], ${list('from')}::timestamptz[],
      ${list('until')}::timestamptz[]) e (is_fine, since, until)
      on e.is_fine = (kept.since <= e.since)`;
}

/** Some intervals as rows. */
export function intervalsOf(sql: Sql | Transaction, intervals: readonly Interval[]) {
  const list = (end: 0 | 1) => `{${intervals.map((each) => each[end]).join(',')}}`;
  return sql`
    select * from unnest(${list(0)}::timestamptz[], ${list(1)}::timestamptz[]) e (since, until)`;
}
