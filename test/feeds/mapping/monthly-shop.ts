import { randomOf } from '../../metrics/random.ts';
import { plan, subscription } from '../../rest/records.ts';

type Status = 'active' | 'paused' | 'cancelled';

interface Life {
  readonly id: number;
  readonly customerId: number;
  readonly createdAt: number;
  readonly price: string;
  /** The month in which it changes to the other plan; none if it does not. */
  readonly planChange: number | undefined;
  readonly changes: readonly { readonly at: number; readonly to: Status }[];
}

/** The first instant of a month; month 0 is October 2025, at whose end the first export is made. */
export const monthStart = (month: number): number => Date.UTC(2025, 9 + month, 1);
/** When the export of a month is made: an hour before the month ends. */
export const exportTime = (month: number): number => monthStart(month + 1) - 3_600_000;
export const months = Array.from({ length: 13 }, (_, month) => month);

export const plans = [plan(), plan({ id: 12, intervalUnit: 'year' })];

/**
 * Subscriptions that start, pause, resume, end, begin again and change plans, from two months before the first export.
 * Each changes at most once a month, as monthly exports cannot show more.
 */
export function createLives(seed: number, count: number): Life[] {
  const { integer, oneOf, chance } = randomOf(seed);
  const within = (month: number) =>
    monthStart(month) + (1 + integer(25)) * 86_400_000 + integer(86_400) * 1000;
  return Array.from({ length: count }, (_, index) => {
    const begins = integer(14) - 2;
    const changes: { at: number; to: Status }[] = [];
    let status: Status = 'active';
    for (let month = begins + 1; month < 13; month += 1) {
      if (!chance(status === 'cancelled' ? 0.1 : 0.12)) continue;
      // What had ended before the first export stays so: no export could show it otherwise.
      if (status === 'cancelled' && (changes.at(-1)?.at ?? 0) < exportTime(0)) continue;
      status =
        status === 'active'
          ? oneOf(['paused', 'cancelled', 'cancelled'])
          : status === 'paused'
            ? oneOf(['active', 'active', 'cancelled'])
            : 'active';
      changes.push({ at: within(month), to: status });
    }
    return {
      id: 1001 + index,
      customerId: 501 + Math.floor(index / 2),
      createdAt: within(begins),
      price: `${10 + integer(90)}.00`,
      planChange: chance(0.3) ? integer(13) : undefined,
      changes,
    };
  });
}

function stateAt({ changes }: Life, at: number) {
  return changes.findLast((change) => change.at <= at) ?? { at: undefined, to: 'active' as const };
}

export const csvHeader = 'id,customer,plan,created,price,status,since';

/** The export of a month, as CSV rows. */
export function exportOf(lives: readonly Life[], month: number, onlyLive: boolean): string[] {
  const at = exportTime(month);
  return lives.flatMap((life) => {
    const { id, customerId, createdAt, price, planChange = 13 } = life;
    const { to: status, at: since } = stateAt(life, at);
    if (createdAt > at || (onlyLive && status === 'cancelled')) return [];
    const planId = month >= planChange ? 12 : 11;
    const times = [createdAt, since].map((time) =>
      time === undefined ? '' : new Date(time).toISOString(),
    );
    return [[id, customerId, planId, times[0], price, status, times[1]].join(',')];
  });
}

/** What is true of the shop from the second month on, as records of our own format. */
export function truthOf(
  lives: readonly Life[],
  { onlyLive, hasDates }: { readonly onlyLive: boolean; readonly hasDates: boolean },
): object[] {
  return lives.flatMap((life) => {
    const { id, customerId, createdAt, price, planChange = 13, changes } = life;
    const first = exportTime(0);
    const before = stateAt(life, first);
    const since = changes.filter(({ at }) => at > first);
    const seen = months.filter(
      (month) =>
        exportTime(month) >= createdAt &&
        !(onlyLive && stateAt(life, exportTime(month)).to === 'cancelled'),
    );
    const last = seen.at(-1);
    if (last === undefined) return [];
    // Without dates, no export says since when it was so at the first one.
    const began = hasDates ? before.at : since.length > 0 ? createdAt : undefined;
    const at = began === undefined ? null : new Date(began).toISOString();
    // On the other plan it is paid by the year, from the first export on that shows it. No export says when it became
    // active, so if it did in the same month, it came back with that.
    const changed = seen.find((month) => month >= planChange);
    const isChange = changed !== undefined && changed !== seen[0];
    const [from, until] = [monthStart(changed ?? 0), exportTime(changed ?? 0)];
    const came = changes.find((each) => each.to === 'active' && each.at > from && each.at < until);
    const revalued = came?.at ?? until;
    const valueEvents = isChange && [
      { at: new Date(createdAt).toISOString(), mrr: price },
      { at: new Date(revalued).toISOString(), mrr: (Number(price) / 12).toFixed(4) },
    ];
    const known = before.to === 'active' ? [] : [{ at, to: before.to }];
    return [
      subscription(id, {
        customerId,
        planId: last >= planChange ? 12 : 11,
        status: changes.at(-1)?.to ?? 'active',
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: null,
        statusEvents: [
          ...known,
          ...since.map((change) => ({ ...change, at: new Date(change.at).toISOString() })),
        ],
        nextBillingDate: null,
        paidThroughAt: null,
        ...(valueEvents && { valueEvents }),
        lines: [
          {
            lineId: 1,
            productId: 81,
            productTitle: '',
            variantId: 91,
            quantity: 1,
            currentPrice: price,
          },
        ],
      }),
    ];
  });
}
