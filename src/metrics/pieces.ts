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

/** The remainders at the ends of an interval; whole days if nothing smaller is stored. */
export function endsOf(sql: Sql | Transaction, { ends: [first, last] }: Bounds) {
  return sql`
    select ${first.from}::timestamptz as since,
      case when kept.since <= ${first.until} then ${first.until}::timestamptz
        else ${first.day} end as until
    from kept
    union all
    select case when kept.since <= ${last.day} then ${last.from}::timestamptz
      else ${last.day} end, ${last.until}
    from kept`;
}

/** Some intervals as rows. */
export function intervalsOf(sql: Sql | Transaction, intervals: readonly Interval[]) {
  const list = (end: 0 | 1) => `{${intervals.map((each) => each[end]).join(',')}}`;
  return sql`
    select * from unnest(${list(0)}::timestamptz[], ${list(1)}::timestamptz[]) e (since, until)`;
}
