import { parseInterval } from '../../metrics/facts.ts';
import type { Age, ConditionName, Segment } from '../../metrics/segments/segment.ts';
import type { ShopVisit } from '../pages.ts';
import { everyInterval, statusLabels } from '../ui/labels.ts';
import { formatMoney } from '../ui/locale.ts';
import type { SegmentChoices } from './choices.ts';

export const ageLabels: Readonly<Record<Age, string>> = {
  '0-1': 'under 1 month old',
  '1-3': '1 to 3 months old',
  '3-6': '3 to 6 months old',
  '6-12': '6 to 12 months old',
  '12-': '12 months or older',
};

/** Each condition of a segment in a few words. */
export function segmentWords(
  visit: ShopVisit,
  segment: Segment,
  { plans, products }: Pick<SegmentChoices, 'plans' | 'products'>,
): [ConditionName, string][] {
  const { plan, group, product, interval, status, age, price } = segment;
  const words: Readonly<Record<ConditionName, string | undefined>> = {
    plan:
      plan === undefined
        ? undefined
        : (plans.find(({ id }) => id === plan)?.name ?? `plan ${plan}`),
    group: group && `group ${group}`,
    product:
      product === undefined
        ? undefined
        : (products.find(({ id }) => id === product)?.name ?? `product ${product}`),
    interval: interval && `billed ${everyInterval(visit, parseInterval(interval))}`,
    status: status && statusLabels[status][0].toLowerCase(),
    age: age && ageLabels[age],
    price: price && priceWords(visit, price),
  };
  return Object.entries(words).filter(
    (pair): pair is [ConditionName, string] => pair[1] !== undefined,
  );
}

function priceWords(visit: ShopVisit, { from, to }: NonNullable<Segment['price']>): string {
  const money = (text: string) => formatMoney(visit, visit.shop, Number(text));
  if (from === undefined) return `at most ${money(to ?? '0')}`;
  return to === undefined ? `at least ${money(from)}` : `${money(from)} to ${money(to)}`;
}
