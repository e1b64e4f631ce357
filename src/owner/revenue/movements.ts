import { scaleLinear } from 'd3-scale';
import { type Html, html } from '../../http/html.ts';
import {
  type Movement,
  arrivals,
  departures,
  isDeparture,
  movements,
} from '../../metrics/facts.ts';
import type { ShopVisit } from '../pages.ts';
import { help } from '../ui/help.ts';
import { shopPath } from '../ui/layout.ts';
import { csvLink } from '../framework/csv.ts';
import { moneyFormat } from '../ui/locale.ts';
import { gapIn } from '../view/earlier.ts';
import { type View, viewOfStart, viewPath } from '../view/view.ts';
import type { Revenue, RevenueSpan } from './revenue.ts';

interface Line {
  readonly label: string;
  readonly definition: string;
}

export const lines: Readonly<Record<'opening' | Movement | 'closing', Line>> = {
  opening: {
    label: 'At the start',
    definition:
      'Monthly recurring revenue when the period began, at today’s prices and intervals, because earlier ones are not stored.',
  },
  new: { label: 'New', definition: 'First subscriptions of customers.' },
  added: { label: 'Added', definition: 'Further subscriptions of customers who had one before.' },
  resumed: { label: 'Resumed', definition: 'Subscriptions that were paused and became active.' },
  reactivated: {
    label: 'Reactivated',
    definition: 'Subscriptions that had been cancelled, had expired or had failed, and came back.',
  },
  paused: { label: 'Paused', definition: 'Active subscriptions that were paused.' },
  cancelled: {
    label: 'Cancelled',
    definition: 'Active subscriptions that were cancelled.',
  },
  expired: { label: 'Expired', definition: 'Active subscriptions that reached their planned end.' },
  failed: {
    label: 'Failed',
    definition: 'Active subscriptions that ended because they were not paid.',
  },
  closing: {
    label: 'At the end',
    definition:
      'Monthly recurring revenue when the period ended: the start, plus what came, less what left.',
  },
};

/** A movement as what it adds to the MRR. */
export function signed(name: keyof typeof lines, { movements: values }: RevenueSpan): number {
  const isLoss = name !== 'opening' && name !== 'closing' && isDeparture(name);
  return isLoss ? 0 - values[name] : values[name];
}

/** What changed the MRR, from the start to the end of the period, as a table with bars. */
export function movementsTable(
  visit: ShopVisit,
  view: View,
  { whole: now, wholeBefore: before, firstDay }: Revenue,
): Html {
  const money = moneyFormat(visit, visit.shop);
  const bar = barsOf(now);
  const show = (name: keyof typeof lines, span: RevenueSpan) => {
    const value = signed(name, span);
    const isGain = value > 0 && name !== 'opening' && name !== 'closing';
    return `${isGain ? '+' : ''}${money(value)}`;
  };
  const row = (name: keyof typeof lines) => {
    const { label, definition } = lines[name];
    const isEnd = name === 'opening' || name === 'closing';
    return html`<tr ${isEnd ? html`class="end"` : undefined}>
      <th scope="row">
        <a href="${rowsOf(visit, view, name)}">${label}</a>
        ${help(name, label, definition)}
      </th>
      <td class="bar">${bar(name)}</td>
      <td class="amount"><bdi data-movement="${name}">${show(name, now)}</bdi></td>
      <td class="amount quiet"><bdi>${before ? show(name, before) : '–'}</bdi></td>
    </tr>`;
  };
  return html`<section class="chart wide">
    <h2 class="small" id="movements">What changed MRR</h2>
    <table class="movements" aria-labelledby="movements">
      <thead>
        <tr>
          <th scope="col">Change</th>
          <td></td>
          <th scope="col" class="amount">This period</th>
          <th scope="col" class="amount">${gapIn(view.before, firstDay) ?? 'Compared with'}</th>
        </tr>
      </thead>
      <tbody>
        ${row('opening')} ${movements.map(row)} ${row('closing')}
      </tbody>
    </table>
    ${
      addsUp(now, visit)
        ? undefined
        : html`<p class="quiet">
            Each amount is rounded once, so the rounded ones may differ from their sum by a minor
            unit.
          </p>`
    }
    ${csvLink(viewPath(shopPath(visit.shop, '/revenue.csv'), view, { table: 'movements' }))}
  </section>`;
}

/** Where the subscriptions of a line are. */
function rowsOf({ shop }: ShopVisit, view: View, name: keyof typeof lines): string {
  if (name === 'opening' || name === 'closing') {
    const then = name === 'opening' ? viewOfStart(view) : view;
    return viewPath(shopPath(shop, '/subscriptions'), then, { figure: 'active' });
  }
  return viewPath(shopPath(shop, '/revenue/movements'), view, { movement: name });
}

/** Whether the rounded amounts are exactly each other's sums. */
function addsUp({ movements: values, came, left, growth }: RevenueSpan, visit: ShopVisit): boolean {
  const money = moneyFormat(visit, visit.shop);
  const isSame = (one: number, other: number) => money(Math.abs(one - other)) === money(0);
  const total = (names: readonly Movement[]) => names.reduce((sum, name) => sum + values[name], 0);
  return (
    isSame(total(arrivals), came) &&
    isSame(total(departures), left) &&
    isSame(came - left, growth) &&
    isSame(values.opening + growth, values.closing)
  );
}

/** Each movement as a bar that begins where the one before it ended. */
function barsOf({ movements: values }: RevenueSpan) {
  let level = values.opening;
  const ends = new Map<string, readonly [number, number]>([['opening', [level, level]]]);
  for (const name of movements) {
    const next = level + (isDeparture(name) ? -values[name] : values[name]);
    ends.set(name, [level, next]);
    level = next;
  }
  ends.set('closing', [values.closing, values.closing]);
  const all = [...ends.values()].flat();
  const x = scaleLinear([Math.min(...all), Math.max(...all)], [1, 99]);
  return (name: keyof typeof lines) => {
    const [from, to] = (ends.get(name) ?? [0, 0]).map(x).toSorted((a, b) => a - b) as [
      number,
      number,
    ];
    const isEnd = name === 'opening' || name === 'closing';
    if (!isEnd && values[name] === 0) return undefined;
    const tone = isEnd ? 'quiet' : isDeparture(name) ? 'bad' : 'good';
    const width = Math.max(to - from, 0.6);
    return html`<svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      <rect
        class="${tone}"
        x="${from.toFixed(2)}"
        width="${width.toFixed(2)}"
        y="${isEnd ? 0 : 2}"
        height="${isEnd ? 12 : 8}"
      />
    </svg>`;
  };
}
