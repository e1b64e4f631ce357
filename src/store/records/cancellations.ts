import type { DetectedReason, OfferType, SessionOutcome } from '../../vocabulary.ts';
import type { Query } from '../connections/query.ts';
import { type Sql, type Transaction, withTimeout, arrayText } from '../database.ts';
import { lookup } from '../lookup.ts';
import {
  type JsonRows,
  type Paging,
  instant,
  integer,
  nullable,
  object,
  jsonRowsOf,
  enumValue,
  byCreation,
  keyset,
} from './listing.ts';
import { itsPlan, worthUntil } from './subscriptions.ts';

const session = object({
  sessionId: integer('session_id'),
  detectedReason: enumValue('detected_reason'),
  outcome: nullable(enumValue('outcome')),
  offerType: nullable(enumValue('offer_type')),
  createdAt: instant('created_at'),
});

interface Page extends Paging {
  readonly outcome: SessionOutcome | undefined;
}

/** Newest first. Costs the same on every page. */
export function listCancellations(
  sql: Sql,
  shopId: number,
  { outcome, ...page }: Page,
): Promise<JsonRows> {
  return jsonRowsOf(
    sql,
    sql`
    select ${sql.unsafe(session)} as json
    from cancellation_sessions
    where shop_id = ${shopId} ${byCreation(sql, 'session_id', ['outcome', outcome], page)}`,
  );
}

/** Which sessions are listed. */
export interface SessionFilter {
  /** When they began, epoch milliseconds; includes `from`, excludes `until`. */
  readonly from: number;
  readonly until: number;
  readonly reason: DetectedReason | undefined;
  readonly offer: OfferType | 'none' | undefined;
  /** Any of these; undefined for all. */
  readonly outcomes: readonly (SessionOutcome | 'in_progress')[] | undefined;
}

export interface SessionRow {
  readonly sessionId: number;
  /** Null if it is not known. */
  readonly subscriptionId: number | null;
  readonly detectedReason: DetectedReason;
  readonly offerType: OfferType | null;
  /** Null while the session is in progress. */
  readonly outcome: SessionOutcome | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** What its subscription was worth a month until then, a decimal; null without one. */
  readonly value: string | null;
}

/**
 * By time. A page reads the entries of one index up to its last row; with filters that few sessions pass, all
 * entries of the interval.
 * @param only leaves some of the sessions out, in a part of a statement
 */
export function listSessions(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, reason, offer, outcomes }: SessionFilter,
  { order = 'newest', after, limit }: Paging,
  only: (sessions: Query<Record<string, unknown>[]>) => Query<Record<string, unknown>[]> = (all) =>
    all,
): Promise<SessionRow[]> {
  const last = after && { created_at: iso(after.createdAt), session_id: after.id };
  const { beyond, by } = keyset(sql, order, ['created_at', 'session_id'], last);
  const list = outcomes === undefined ? null : `{${outcomes.join(',')}}`;
  const sessions = sql`
    select * from cancellation_sessions
    where shop_id = ${shopId} and created_at >= ${iso(from)} and created_at < ${iso(until)}
      and ${beyond}
      and detected_reason = coalesce(${reason ?? null}, detected_reason)
      and coalesce(offer_type, 'none') = coalesce(${offer ?? null}, offer_type, 'none')
      and (${list}::text[] is null or coalesce(outcome, 'in_progress') = any(${list}::text[]))
    order by ${by()} offset 0`;
  // The index has all but the subscription, which only the rows of the page need.
  return withTimeout(sql<SessionRow[]>`
    select s.session_id as "sessionId", whole.subscription_id as "subscriptionId",
      s.detected_reason as "detectedReason", s.offer_type as "offerType", s.outcome,
      (date_part('epoch', s.created_at) * 1000)::bigint as "createdAt", worth.value::text as value
    from (select * from (${only(sessions)}) listed order by ${by()} limit ${limit}) s
    cross join ${lookup(sql, shopId, 'cancellation_sessions', 'session_id', 's.session_id')} whole
    left join lateral (
      select ${worthUntil(sql, 'whole.created_at')} as value
      from ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'whole.subscription_id')} s ${itsPlan(sql, shopId)}
    ) worth on true
    order by ${by('s')}`);
}

const iso = (at: number) => new Date(at).toISOString();

/** @returns the subscription of each session; omits sessions without one */
export async function listSubscriptionsOfSessions(
  sql: Sql,
  shopId: number,
  sessionIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await withTimeout(sql<{ id: number; subscriptionId: number | null }[]>`
    select s.session_id as id, s.subscription_id as "subscriptionId"
    from unnest(${arrayText(sessionIds)}::bigint[]) requested (id)
    cross join ${lookup(sql, shopId, 'cancellation_sessions', 'session_id', 'requested.id')} s`);
  return new Map(
    rows.flatMap(({ id, subscriptionId }) =>
      subscriptionId === null ? [] : [[id, subscriptionId] as const],
    ),
  );
}
