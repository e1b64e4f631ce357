import type { Sql, Transaction } from '../../store/database.ts';
import { type Period, day } from '../bounds.ts';
import { priceDecimals } from '../facts.ts';
import type { Cases, ClosedCases, OpenCases, Result } from '../recovery/figures.ts';

/** What happened to a subscription. */
interface Event {
  readonly subscriptionId: number;
  readonly at: number;
  readonly kind: 'failed' | 'succeeded' | 'changed';
  /** The new status of a change. */
  readonly status: string | null;
  /** Of a failed payment. */
  readonly units: string | null;
  readonly failureCode: string | null;
}

interface Case {
  readonly units: bigint;
  failureCode: string | null;
  attempts: number;
  /** Whether each attempt to collect it succeeded, in their order. */
  readonly tries: boolean[];
  closedAt?: number;
  result?: Result;
}

const ended: ReadonlySet<string | null> = new Set(['cancelled', 'expired', 'failed']);
/** From this one on, attempts to collect a case are counted together. */
const lastAttempt = 4;
const subscriptionsPerStatement = 5_000;

interface PlainRecovery {
  readonly outstanding: OpenCases[];
  readonly closed: ClosedCases[];
  /** An entry for each attempt to collect the closed ones. */
  readonly attempts: PlainAttempt[];
}

export interface PlainAttempt extends Cases {
  readonly number: number;
  readonly hasSucceeded: boolean;
}

/**
 * The same as listOutstanding, listClosed and attemptsIn, following the definitions event by event: reads all payments of the
 * subscriptions that ever failed to pay, and none of the precomputed tables. Each case is a group of its own.
 */
export async function recoveryFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  now: number,
): Promise<PlainRecovery> {
  const outstanding: OpenCases[] = [];
  const closed: ClosedCases[] = [];
  const attempts: PlainAttempt[] = [];
  for (let after = 0; ;) {
    const events = await listEvents(sql, shopId, after);
    const last = events.at(-1);
    if (last === undefined) return { outstanding, closed, attempts };
    after = last.subscriptionId;
    const seen = events.filter(({ at }) => at <= now);
    for (const history of Map.groupBy(seen, (each) => each.subscriptionId).values()) {
      for (const each of casesOf(history)) {
        const { units, failureCode, closedAt, result } = each;
        if (closedAt === undefined || result === undefined) {
          outstanding.push({ count: 1, units, failureCode });
        } else if (closedAt >= from && closedAt < until) {
          const closedOn = Math.floor(closedAt / day) * day;
          closed.push({
            day: closedOn,
            result,
            failureCode,
            attempts: each.attempts,
            count: 1,
            units,
          });
          for (const [index, hasSucceeded] of each.tries.entries()) {
            const number = Math.min(index + 1, lastAttempt);
            attempts.push({ number, hasSucceeded, count: 1, units });
          }
        }
      }
    }
  }
}

/** @param events of one subscription, in order */
function casesOf(events: readonly Event[]): Case[] {
  const cases: Case[] = [];
  let open: Case | undefined;
  let hasEnded = false;
  for (const { at, kind, status, units, failureCode } of events) {
    if (kind === 'failed') {
      if (open) {
        open.attempts += 1;
        open.tries.push(false);
        open.failureCode = failureCode;
      } else if (!hasEnded) {
        open = { units: BigInt(units ?? 0), failureCode, attempts: 1, tries: [] };
        cases.push(open);
      }
      continue;
    }
    if (kind === 'changed') hasEnded = ended.has(status);
    if (!open || (kind === 'changed' && !hasEnded)) continue;
    if (kind === 'succeeded') open.tries.push(true);
    open.closedAt = at;
    open.result = kind === 'changed' ? 'lost' : 'recovered';
    open = undefined;
  }
  return cases;
}

/** Everything that happened to the next subscriptions that ever failed to pay, in order. */
function listEvents(sql: Sql | Transaction, shopId: number, after: number): Promise<Event[]> {
  return sql<Event[]>`
    with seen as (
      select distinct subscription_id from payments
      where shop_id = ${shopId} and subscription_id > ${after}
        and status = 'failed' and failure_kind is distinct from 'inventory'
      order by subscription_id limit ${subscriptionsPerStatement}
    )
    select subscription_id as "subscriptionId", (date_part('epoch', at) * 1000)::bigint as at, kind,
      status, units, "failureCode"
    from (
      select p.subscription_id, p.processed_at as at, 0 as rank, p.payment_id as id, p.status as kind,
        null as status, round(p.amount * 10::numeric ^ ${priceDecimals}::int)::text as units,
        p.failure_code as "failureCode"
      from seen
      join payments p on p.shop_id = ${shopId} and p.subscription_id = seen.subscription_id
      where p.status = 'succeeded'
        or p.status = 'failed' and p.failure_kind is distinct from 'inventory'
      union all
      select e.subscription_id, e.at, 1, e.position, 'changed', e.to_status, null, null
      from seen
      join status_events e on e.shop_id = ${shopId} and e.subscription_id = seen.subscription_id
    ) happened
    order by subscription_id, happened.at, rank, id`;
}
