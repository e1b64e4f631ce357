import { unitsOf } from '../../src/money.ts';
import type { Sql } from '../../src/store/database.ts';

/** A subscription and its statuses: active from the first instant on, then whatever each change made it. */
export interface HeldSubscription {
  readonly id: number;
  readonly customerId: number;
  readonly planId: number;
  /** What it was worth a month and since when, oldest first, in millionths of millionths of the currency. */
  readonly values: readonly { readonly since: number; readonly value: Value }[];
  /** Until then it is worth nothing. */
  readonly trialEndsAt: number;
  /** Whether it is known since when it has its status. */
  readonly isDated: boolean;
  readonly steps: readonly { readonly at: number; readonly to: string }[];
}

/** An exact monthly value, in the smallest unit of prices. */
type Value = readonly [numerator: bigint, denominator: bigint];

const add = ([a, b]: Value, [c, d]: Value): Value => reduce([a * d + c * b, b * d]);
const nothing: Value = [0n, 1n];
const minus = ([a, b]: Value): Value => [-a, b];

function reduce([numerator, denominator]: Value): Value {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b > 0n) [a, b] = [b, a % b];
  return a === 0n ? nothing : [numerator / a, denominator / a];
}

const cyclesPerMonth: Readonly<Record<string, (n: bigint) => readonly [bigint, bigint]>> = {
  day: (n) => [365n, 12n * n],
  week: (n) => [365n, 84n * n],
  month: (n) => [1n, n],
  year: (n) => [1n, 12n * n],
};

/** Reads a shop's subscriptions as they are stored. */
export async function readHeld(sql: Sql, shopId: number): Promise<HeldSubscription[]> {
  const rows = await sql<
    {
      id: number;
      customerId: number;
      planId: number;
      prices: [interval: string, price: string][];
      ofPlan: string;
      past: readonly [at: number, amounts?: Readonly<Record<string, string>>][] | null;
      trialEndsAt: number | null;
      isDated: boolean;
      steps: { at: number; to: string }[];
    }[]
  >`
    select s.subscription_id as id, customer_id as "customerId", s.plan_id as "planId",
      (
        select jsonb_build_array(jsonb_build_array(
            coalesce(own_interval_unit, interval_unit) || ' ' || coalesce(own_interval_count, interval_count),
            round((current_price - coalesce(sum(value::numeric), 0)) * 10 ^ 12::numeric)::text
          )) || coalesce(jsonb_agg(jsonb_build_array(key, round(value::numeric * 10 ^ 12::numeric)::text)), '[]')
        from jsonb_each_text(other_intervals)
      ) as prices, past_values as past,
      interval_unit || ' ' || interval_count as "ofPlan",
      round(date_part('epoch', trial_ends_at) * 1000) as "trialEndsAt",
      status_since is not null as "isDated",
      jsonb_build_array(
        jsonb_build_object('at', round(date_part('epoch', created_at) * 1000), 'to', 'active')
      ) || coalesce((
        select jsonb_agg(jsonb_build_object('at', round(date_part('epoch', at) * 1000), 'to', to_status)
          order by position)
        from status_events e
        where e.shop_id = s.shop_id and e.subscription_id = s.subscription_id
      ), '[]') as steps
    from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
    where s.shop_id = ${shopId}`;
  return rows.map(({ prices, ofPlan, past, trialEndsAt, ...row }) => {
    const known = (past ?? []).flatMap(([since, amounts]) => {
      if (!amounts) return [];
      const parts = Object.entries(amounts).map(
        ([interval, price]) => [interval || ofPlan, unitsOf(price, 12)] as const,
      );
      return [{ since, value: sumOf(parts) }];
    });
    const now = {
      since: -Infinity,
      value: sumOf(prices.map(([at, price]) => [at, BigInt(price)])),
    };
    return { ...row, trialEndsAt: trialEndsAt ?? -Infinity, values: past ? known : [now] };
  });
}

const sumOf = (prices: readonly (readonly [interval: string, price: bigint])[]) =>
  prices.reduce((sum, [interval, price]) => add(sum, valueOf(interval, price)), nothing);

/** What it was worth just before an instant. */
const valueBefore = ({ values }: HeldSubscription, at: number): Value =>
  (values.findLast(({ since }) => since < at) ?? values[0])?.value ?? nothing;

function valueOf(interval: string, price: bigint): Value {
  const [unit = '', count = ''] = interval.split(' ');
  const [numerator, denominator] = cyclesPerMonth[unit]?.(BigInt(count)) ?? [0n, 1n];
  return [price * numerator, denominator];
}

export const createdAt = ({ steps }: HeldSubscription) => (steps[0] as { at: number }).at;
/** The status just before an instant; '' if it had not begun, or if it is unknown. */
export const statusBefore = ({ steps, isDated }: HeldSubscription, at: number) =>
  (isDated && steps.findLast((step) => step.at < at)?.to) || '';

/** Whether it was active and out of trial just before an instant. */
const isWorthBefore = (each: HeldSubscription, at: number) =>
  each.trialEndsAt < at && statusBefore(each, at) === 'active';

const isLive = (status: string) => status === 'active' || status === 'paused';

export function activeValue(held: readonly HeldSubscription[], at: number): Value {
  return held
    .filter((each) => isWorthBefore(each, at))
    .reduce((sum, each) => add(sum, valueBefore(each, at)), nothing);
}

/** The exact movements, from the definition. */
export function movementsOf(held: readonly HeldSubscription[], from: number, to: number) {
  const found = new Map<string, Value>([
    ['opening', activeValue(held, from)],
    ['closing', activeValue(held, to)],
  ]);
  /** What the subscriptions of a customer that stayed active changed by at an instant. */
  const revalued = new Map<string, Value>();
  for (const each of held) {
    const isFirst = !held.some(
      (other) =>
        other.customerId === each.customerId &&
        (createdAt(other) < createdAt(each) ||
          (createdAt(other) === createdAt(each) && other.id < each.id)),
    );
    const hasTrial = each.trialEndsAt > -Infinity;
    const instants = new Set([
      ...each.steps.map(({ at }) => at),
      each.trialEndsAt,
      ...each.values.map(({ since }) => since),
    ]);
    let hasBegun = false;
    for (const at of [...instants].toSorted((a, b) => a - b)) {
      const [was, became] = [statusBefore(each, at), statusBefore(each, at + 1)];
      const [before, after] = [isWorthBefore(each, at), isWorthBefore(each, at + 1)];
      const begins = hasTrial ? !hasBegun : was === '';
      hasBegun ||= after;
      if (at < from || at >= to || (!before && !after)) continue;
      if (before && after) {
        const change = add(valueBefore(each, at + 1), minus(valueBefore(each, at)));
        const key = `${each.customerId} ${at}`;
        revalued.set(key, add(revalued.get(key) ?? nothing, change));
        continue;
      }
      const arrival = begins
        ? isFirst
          ? 'new'
          : 'added'
        : was === 'paused'
          ? 'resumed'
          : 'reactivated';
      const name = after ? arrival : became;
      const value = valueBefore(each, after ? at + 1 : at);
      found.set(name, add(found.get(name) ?? nothing, value));
    }
  }
  for (const change of revalued.values()) {
    const [name, size] =
      change[0] < 0n ? (['contraction', minus(change)] as const) : (['expansion', change] as const);
    found.set(name, add(found.get(name) ?? nothing, size));
  }
  return (name: string): Value => found.get(name) ?? nothing;
}

/** When subscriptions became worth something else while they were active, and whether they have left since. */
export function priceChangesOf(held: readonly HeldSubscription[], from: number, until: number) {
  const left = new Map(
    churnedOf(held, -Infinity, Infinity, Infinity).map((each) => [each.id, each]),
  );
  return held
    .flatMap((each) =>
      each.values.flatMap(({ since: at }) => {
        const [was, became] = [valueBefore(each, at), valueBefore(each, at + 1)];
        const change = roundedValue(add(became, minus(was)), 2);
        if (!isWorthBefore(each, at) || !isWorthBefore(each, at + 1) || change === 0) return [];
        if (at < from || at >= until) return [];
        const { id, planId } = each;
        const leftAt = left.get(id)?.leftAt ?? null;
        const lost = leftAt && (each.trialEndsAt > leftAt ? nothing : valueBefore(each, leftAt));
        return [{ id, planId, at, was, became, leftAt, lost }];
      }),
    )
    .toSorted((a, b) => b.at - a.at || b.id - a.id);
}

/** What the customers who were worth something at one instant were worth at another, and of each at most as before. */
export function retainedOf(held: readonly HeldSubscription[], from: number, to: number) {
  let [net, gross] = [nothing, nothing];
  for (const own of Map.groupBy(held, ({ customerId }) => customerId).values()) {
    const [opening, closing] = [activeValue(own, from), activeValue(own, to)];
    if (opening[0] <= 0n) continue;
    net = add(net, closing);
    const isLess = closing[0] * opening[1] < opening[0] * closing[1];
    gross = add(gross, isLess ? closing : opening);
  }
  return { net, gross };
}

/** Those that left, as of now: newest first. */
export function churnedOf(
  held: readonly HeldSubscription[],
  from: number,
  until: number,
  now: number,
) {
  return held
    .flatMap((each) => {
      const steps = each.isDated ? each.steps.filter(({ at }) => at <= now) : [];
      const last = steps.at(-1)?.to;
      if (last !== 'cancelled' && last !== 'failed') return [];
      const leftAt = steps[steps.findLastIndex(({ to }) => isLive(to)) + 1]?.at as number;
      if (leftAt < from || leftAt >= until) return [];
      const cause =
        steps.findLast(({ at }) => at === leftAt)?.to === 'failed' ? 'failed' : 'cancelled';
      const { id, customerId, planId } = each;
      const ageDays = Math.floor((leftAt - createdAt(each)) / 86_400_000);
      return [{ id, customerId, planId, leftAt, cause, ageDays }];
    })
    .toSorted((a, b) => b.leftAt - a.leftAt || b.id - a.id);
}

const monthOf = (at: number) => new Date(at).toISOString().slice(0, 7);

/** Cohorts with exact values, from the definition. */
export function cohortsOf(held: readonly HeldSubscription[], months: number, now: number) {
  const seen = held.filter((each) => createdAt(each) < now);
  const first = new Map<number, number>();
  for (const each of seen) {
    const known = first.get(each.customerId) ?? Infinity;
    first.set(each.customerId, Math.min(known, createdAt(each)));
  }
  const date = new Date(now);
  const startOf = (back: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back, 1);
  const cohorts = [];
  for (let back = months - 1; back >= 0; back -= 1) {
    const month = monthOf(startOf(back));
    const members = new Set(
      [...first].filter(([, at]) => monthOf(at) === month).map(([customer]) => customer),
    );
    if (members.size === 0) continue;
    const own = seen.filter(({ customerId }) => members.has(customerId));
    const ends = Array.from({ length: back + 1 }, (_, k) => Math.min(startOf(back - k - 1), now));
    cohorts.push({
      month,
      customers: members.size,
      retained: ends.map(
        (end) =>
          new Set(
            own.filter((each) => isLive(statusBefore(each, end))).map((each) => each.customerId),
          ).size,
      ),
      mrr: ends.map((end) => activeValue(own, end)),
    });
  }
  return cohorts;
}

/** Rounds half away from zero. */
export function roundedValue([numerator, denominator]: Value, digits: number): number {
  if (numerator < 0n) return -roundedValue([-numerator, denominator], digits);
  const [scaled, whole] = [numerator * 10n ** BigInt(digits), denominator * 10n ** 12n];
  return Number((2n * scaled + whole) / (2n * whole)) / 10 ** digits;
}
