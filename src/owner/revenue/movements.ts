import { lineNames, movementLines } from '../../metrics/movements.ts';
import { scaleLinear } from 'd3-scale';
import { html } from '../../http/html.ts';
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
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { moneyFormat } from '../ui/locale.ts';
import { gapIn } from '../view/earlier.ts';
import { viewOfStart, viewPath } from '../view/view.ts';
import type { Revenue, RevenueSpan } from './revenue.ts';

type Name = keyof typeof movementLines;

const isEnd = (name: Name) => name === 'opening' || name === 'closing';

/** A movement as what it adds to the MRR. */
function signed(name: Name, { movements: values }: RevenueSpan): number {
  return isMovement(name) && isDeparture(name) ? 0 - values[name] : values[name];
}

const isMovement = (name: Name): name is Movement => !isEnd(name);

/** What changed the MRR, from the start to the end of the period. */
export function movementsTable(
  visit: FiguresVisit,
  { whole: now, wholeBefore: before, firstDay }: Revenue,
): Exhibit {
  const { shop, view } = visit;
  const money = moneyFormat(visit, shop);
  const show = (name: Name, span: RevenueSpan) => {
    const value = signed(name, span);
    return `${value > 0 && !isEnd(name) ? '+' : ''}${money(value)}`;
  };
  return tableExhibit<Name>({
    id: 'movements',
    noun: 'mrr-movements',
    title: 'What changed MRR',
    look: 'movements',
    isWide: true,
    isFirst: true,
    rows: lineNames,
    rowLook: (name) => (isEnd(name) ? 'end' : undefined),
    columns: [
      {
        label: 'Change',
        kind: 'head',
        cell(name) {
          const { label, definition } = movementLines[name];
          return html`<a href="${rowsOf(visit, name)}">${label}</a>
            ${help(name, label, definition)}`;
        },
        file: { Change: (name) => movementLines[name].label },
      },
      { label: '', kind: 'bar', cell: barsOf(now) },
      {
        label: 'This period',
        kind: 'amount',
        cell: (name) => html`<bdi data-movement="${name}">${show(name, now)}</bdi>`,
        file: { 'This period': (name) => signed(name, now) },
      },
      {
        label: gapIn(view.before, firstDay) ?? 'Compared with',
        kind: 'amount quiet',
        cell: (name) => html`<bdi>${before ? show(name, before) : '–'}</bdi>`,
        file: {
          'Compared with': (name) => (before ? signed(name, before) : null),
          Currency: () => shop.currency,
        },
      },
    ],
    note: addsUp(now, visit)
      ? undefined
      : html`<p class="quiet">
          Each amount is rounded once, so the rounded ones may differ from their sum by a minor
          unit.
        </p>`,
  });
}

/** Where the subscriptions of a line are. */
function rowsOf({ shop, view }: FiguresVisit, name: Name): string {
  if (isMovement(name)) {
    return viewPath(shopPath(shop, '/revenue/movements'), view, { movement: name });
  }
  const then = name === 'opening' ? viewOfStart(view) : view;
  return viewPath(shopPath(shop, '/subscriptions'), then, { figure: 'active' });
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
  return (name: Name) => {
    const [from, to] = (ends.get(name) ?? [0, 0]).map(x).toSorted((a, b) => a - b) as [
      number,
      number,
    ];
    if (!isEnd(name) && values[name] === 0) return undefined;
    const tone = isMovement(name) ? (isDeparture(name) ? 'bad' : 'good') : 'quiet';
    const width = Math.max(to - from, 0.6);
    return html`<svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      <rect
        class="${tone}"
        x="${from.toFixed(2)}"
        width="${width.toFixed(2)}"
        y="${isEnd(name) ? 0 : 2}"
        height="${isEnd(name) ? 12 : 8}"
      />
    </svg>`;
  };
}
