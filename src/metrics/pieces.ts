import type { Sql, Transaction } from '../store/database.ts';
import { type Bounds, type Interval, type SignedInterval, day } from './bounds.ts';

/** From when on hours and minutes are stored; the parts below read it as `kept`. */
export const keptOf = (sql: Sql | Transaction, shopId: number) => sql`
  select coalesce(max(hours_since), 'infinity') as since from metric_shops
  where shop_id = ${shopId}`;

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

/** Some intervals as rows, with their signs. */
export function signedIntervalsOf(sql: Sql | Transaction, signed: readonly SignedInterval[]) {
  const list = (end: 0 | 1) => `{${signed.map(({ interval }) => interval[end]).join(',')}}`;
  const signs = `{${signed.map(({ sign }) => sign).join(',')}}`;
  return sql`
    select * from unnest(${list(0)}::timestamptz[], ${list(1)}::timestamptz[], ${signs}::integer[])
      e (since, until, sign)`;
}

/** The lengths, in days, by which superseded facts are told apart (superseded_reach); the last has no limit. */
const reaches = [1, 4, 16, 64, 256, 1024, 32_767] as const;

/** Each length, and until when what contains an instant can reach. */
export function reachesOf(sql: Sql | Transaction, at: string) {
  const until = reaches.map((days, index) =>
    index + 1 === reaches.length ? 'infinity' : new Date(Date.parse(at) + days * day).toISOString(),
  );
  const [lengths, ends] = [reaches, until].map((each) => `{${each.join(',')}}`) as [string, string];
  return sql`
    select * from unnest(${lengths}::smallint[], ${ends}::timestamptz[]) r (reach, until)`;
}
