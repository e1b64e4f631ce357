import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { deriveId } from '../../../../src/ingest/source-ids.ts';
import { isEntitled } from '../../../../src/operations/get-entitlements.ts';
import type { Store } from '../../../../src/store/open.ts';
import { root } from '../../../cli/process.ts';
import type { TestShop } from '../../../support/world.ts';

/** The time of the world, and of its exports. */
export const worldAt = '2026-11-20T00:00:00.000Z';

export interface ExpectedLine {
  readonly price: string;
  readonly quantity: number;
  readonly intervalUnit: string;
  readonly intervalCount: number;
}

/** What a subscription must become; worked out by hand, as `working` says. */
export interface Expected {
  readonly case: string;
  readonly stored: boolean;
  readonly status: string;
  readonly entitled: boolean;
  readonly lines: readonly ExpectedLine[];
  readonly currentPrice: number;
  readonly mrr: number;
  readonly trialEndsAt: string | null;
  readonly endedAt?: string | null;
  readonly pausedAt?: string;
  readonly warnings: readonly string[];
  readonly movement: Readonly<Record<string, number>>;
}

export type Subscription = Readonly<Record<string, unknown>> & { readonly id: string };

export interface Case {
  readonly case: string;
  /** The currency of the shop. */
  readonly shop?: string;
  readonly subscription: Subscription;
}

/** What is stored after each of several lists and events of a subscription. */
export interface Sequence {
  readonly case: string;
  readonly steps: readonly (({ readonly by: 'list'; readonly asOf: string } | Event) & {
    readonly subscription: Subscription;
    readonly expect: Pick<Expected, 'lines' | 'mrr' | 'warnings'> & { readonly stored?: false };
  })[];
}

interface Event {
  readonly by: 'event';
  readonly type: string;
  readonly at: string;
}

export function readLines<Row>(file: string): readonly Row[] {
  const text = readFileSync(path.join(root, 'test/feeds/mapping/stripe', file), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export const world = readLines<Case>('world.jsonl');
export const expected = new Map(
  readLines<Expected>('expected.jsonl').map((each) => [each.case, each]),
);
export const currencies = [...new Set(world.map(({ shop = 'USD' }) => shop))];
export const casesOf = (currency: string) => world.filter(({ shop = 'USD' }) => shop === currency);

/** An event as Stripe sends it. */
export const eventOf = (
  subscription: Subscription,
  { type, at }: Omit<Event, 'by'> = { type: 'customer.subscription.updated', at: worldAt },
) => ({
  object: 'event',
  type,
  created: Date.parse(at) / 1000,
  data: { object: subscription },
});

/** How warnings begin or what they have in them, by what the expected values call them. */
const warningTexts: Readonly<Record<string, RegExp>> = {
  price_unknown: /has no amount/,
  tiers_unknown: /has tiers that/,
  tier_missing: /has no tier for/,
  interval_unknown: /has an interval other than/,
  quantity_unknown: /has a quantity that/,
  discount_unknown: /has a discount that|its discounts are not/,
  coupon_unknown: /has a discount with no/,
  discount_shared: /shares a discount with/,
  tax_unknown: /includes tax that/,
  items_incomplete: /not all items/,
  other_currency: /is in EUR, not in USD/,
};

/** Checks the warnings of an import against those of its cases. */
export function checkWarnings(
  found: readonly string[],
  cases: readonly (readonly [id: string, warnings: readonly string[]])[],
): void {
  const wanted = cases.flatMap(([id, warnings]) => {
    const known = warnings.filter((each) => each in warningTexts);
    return known.length === 0 ? [] : [[id, known] as const];
  });
  const named = new Map(found.map((text) => [/^subscription "([^"]+)": /.exec(text)?.[1], text]));
  assert.deepEqual([...named.keys()].toSorted(), wanted.map(([id]) => id).toSorted());
  for (const [id, warnings] of wanted) {
    for (const each of warnings)
      assert.match(named.get(id) ?? '', warningTexts[each] as RegExp, id);
  }
}

const days = { day: 365 / 12, week: 365 / 84, month: 1, year: 1 / 12 };

/** A stored subscription as the expected values have it. */
export async function storedOf(store: Store, shop: TestShop, id: string | number, at = worldAt) {
  const [row] = await store.write<Stored[]>`
    select s.status, s.current_price as "currentPrice", s.trial_ends_at as "trialEndsAt",
      s.paid_through_at as "paidThroughAt",
      (
        select json_agg(json_build_object('price', trim_scale(l.current_price)::text,
            'quantity', l.quantity,
            'intervalUnit', coalesce(l.interval_unit, s.own_interval_unit, p.interval_unit),
            'intervalCount', coalesce(l.interval_count, s.own_interval_count, p.interval_count))
          order by l.position)
        from subscription_lines l
        where l.shop_id = s.shop_id and l.subscription_id = s.subscription_id
      ) as lines,
      (
        select json_object_agg(to_status, at) from status_events e
        where e.shop_id = s.shop_id and e.subscription_id = s.subscription_id
      ) as since
    from subscriptions s
    join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
    where s.shop_id = ${shop.id} and s.subscription_id = ${typeof id === 'number' ? id : deriveId('subscription', id)}`;
  if (!row) return undefined;
  const { status, lines, trialEndsAt, paidThroughAt } = row;
  const now = Date.parse(at);
  const isWorth = status === 'active' && (trialEndsAt === null || trialEndsAt.getTime() <= now);
  const monthly = lines.reduce(
    (sum, { price, quantity, intervalUnit, intervalCount }) =>
      sum + (Number(price) * quantity * days[intervalUnit as keyof typeof days]) / intervalCount,
    0,
  );
  const scale = 10 ** shop.minorDigits;
  return {
    status,
    entitled: isEntitled(status as 'active', paidThroughAt?.getTime() ?? null, now),
    lines,
    // Halves are exact in the database, and a little less here.
    currentPrice: Math.round(Number(row.currentPrice) * scale + 1e-6) / scale,
    mrr: isWorth ? Math.round(monthly * scale + 1e-6) / scale : 0,
    trialEndsAt: trialEndsAt?.toISOString() ?? null,
    since: row.since ?? {},
  };
}

interface Stored {
  readonly status: string;
  readonly currentPrice: string;
  readonly trialEndsAt: Date | null;
  readonly paidThroughAt: Date | null;
  readonly lines: readonly ExpectedLine[];
  readonly since: Readonly<Record<string, string>> | null;
}

const time = (text: string | null | undefined) => text && new Date(text).toISOString();

/** Checks a stored subscription. */
export async function checkCase(
  store: Store,
  shop: TestShop,
  id: string | number,
  wanted: Expected,
) {
  const found = await storedOf(store, shop, id);
  if (!wanted.stored) return assert.equal(found, undefined, wanted.case);
  assert.ok(found, wanted.case);
  const { since, ...rest } = found;
  const { status, entitled, lines, currentPrice, mrr, trialEndsAt } = wanted;
  assert.deepEqual(
    rest,
    { status, entitled, lines, currentPrice, mrr, trialEndsAt: time(trialEndsAt) ?? null },
    wanted.case,
  );
  const at = wanted.endedAt ?? wanted.pausedAt;
  if (at) assert.equal(time(since[status]), time(at), wanted.case);
}
