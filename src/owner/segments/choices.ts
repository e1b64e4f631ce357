import { listPlans } from '../../operations/list-plans.ts';
import { type SavedSegment, listSegments } from '../../store/owners/segments.ts';
import { listProducts } from '../../store/records/plans.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import type { Shop } from '../../store/shops.ts';
import { ask } from '../ask.ts';
import type { OwnerParts } from '../pages.ts';

interface Named {
  readonly id: number;
  /** With its number where others have the same. */
  readonly name: string;
}

/** What the conditions of a shop's segments can be. */
export interface SegmentChoices {
  readonly plans: readonly Named[];
  readonly groups: readonly string[];
  readonly intervals: readonly Interval[];
  /** The first ones, by number; an address may have others. */
  readonly products: readonly Named[];
  readonly saved: readonly SavedSegment[];
}

const maxProducts = 500;

export async function readSegmentChoices(parts: OwnerParts, shop: Shop): Promise<SegmentChoices> {
  const [{ plans }, products, saved] = await Promise.all([
    ask(parts, shop, listPlans, {}),
    parts.store.readRecent(shop.id, ({ subscriptions }) =>
      listProducts(subscriptions, shop.id, maxProducts),
    ),
    listSegments(parts.store.write, shop.id),
  ]);
  const intervals = plans.map(({ intervalUnit: unit, intervalCount: count }) => ({ unit, count }));
  return {
    plans: distinct(plans.map(({ id, name }) => ({ id, name }))),
    groups: [...new Set(plans.map(({ groupName }) => groupName))].filter((name) => name !== ''),
    intervals: [...new Map(intervals.map((each) => [`${each.unit} ${each.count}`, each])).values()],
    products: distinct(products.map(({ productId: id, title: name }) => ({ id, name }))),
    saved,
  };
}

function distinct(rows: readonly Named[]): Named[] {
  const byName = Map.groupBy(rows, ({ name }) => name);
  return rows.map(({ id, name }) =>
    byName.get(name)?.length === 1 ? { id, name } : { id, name: `${name} (${id})` },
  );
}
