import * as column from '../framework/columns.ts';
import { html } from '../../http/html.ts';
import { type Movement, inflows, outflows, isOutflow, movements } from '../../metrics/facts.ts';
import { type MovementValues, movementLines } from '../../metrics/movements.ts';
import { type MovedRow, listMoved, monthlyChangeOf } from '../../metrics/moved.ts';
import { type Ratio, add, subtract, zero } from '../../money.ts';
import type { TimeOrder } from '../../store/records/listing.ts';
import type { Shop } from '../../store/shops.ts';
import { choice, dayFilters } from '../framework/address.ts';
import { positionSchema } from '../framework/cursor.ts';
import { type ListVisit, figuresOf } from '../framework/list.ts';
import { defineList } from '../framework/define-list.ts';
import type { Tone } from '../ui/labels.ts';
import { shopPath } from '../site.ts';
import { moneyFormat, rounded } from '../ui/formats.ts';
import { partOf, viewPath } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';

const tones: Readonly<Record<Movement, Tone>> = {
  new: 'new',
  added: 'new',
  resumed: 'kept',
  reactivated: 'kept',
  expansion: 'kept',
  contraction: 'risk',
  paused: 'neutral',
  cancelled: 'lost',
  expired: 'neutral',
  failed: 'lost',
};

/** What an address can choose, and which movements that is. */
const choices: Readonly<Record<string, readonly [label: string, names: readonly Movement[]]>> = {
  came: ['Came', inflows],
  left: ['Left', outflows],
  ...Object.fromEntries(
    movements.map((name) => [name, [movementLines[name].label, [name]]] as const),
  ),
};

const movedFilters = { movement: choice('a change of MRR', choices), ...dayFilters };

type Visit = ListVisit<typeof movedFilters, TimeOrder>;

const windowOf = ({ view: { period }, filters }: Visit) => partOf(period, filters);

const namesOf = ({ filters: { movement = '' } }: Visit) => choices[movement]?.[1] ?? movements;

/** What some movements changed the MRR by, whatever the direction. */
const sumOf = (values: MovementValues, names: readonly Movement[]) =>
  names.map((name) => values[name]).reduce(add, zero);

/** The subscriptions that changed the MRR in a period, when and by how much. */
export const moved = defineList<MovedRow, MovementValues>()({
  path: '/revenue/movements',
  title: 'What changed MRR',
  label: 'Changes of MRR',
  hint: 'Movements',
  parent: '/revenue',
  noun: 'changes',
  fileNoun: 'mrr-changes',
  caption: 'Subscriptions that changed the MRR',
  pickers: ['period'],
  // Another period has other days.
  endWithView: ['first', 'last'],
  filters: movedFilters,
  links: { name: 'movement', label: 'Change', options: choices },
  orders: { newest: 'The last to change first', oldest: 'The first to change first' },
  place: positionSchema,
  placeOf: ({ at, subscriptionId }) => ({ createdAt: at, id: subscriptionId }),
  read: (visit, page) =>
    visit.parts.store.readRecent(visit.shop.id, ({ analyse }) =>
      listMoved(analyse, visit.shop.id, windowOf(visit), {
        ...page,
        names: namesOf(visit),
      }),
    ),
  summarise: (visit) => figuresOf(visit, (figures) => figures.movements(windowOf(visit))),
  head(visit, values) {
    const { shop, view, filters } = visit;
    const { movement, first, last } = filters;
    const names = namesOf(visit);
    const format = moneyFormat(visit);
    const money = (value: Ratio) => format(rounded(value, shop));
    const sum = (some: readonly Movement[]) => money(sumOf(values, some));
    const when = showPeriod(visit, windowOf(visit));
    const path = shopPath(shop, '/revenue/movements');
    const whole = viewPath(path, view, movement === undefined ? {} : { movement });
    const sign = names.every(isOutflow) ? '−' : '+';
    return html`<p>
        ${
          movement === undefined
            ? html`<strong
                  >MRR went from ${money(values.opening)} to ${money(values.closing)}</strong
                >
                ${when}: ${sum(inflows)} came, ${sum(outflows)} left.`
            : html`<strong>${sum(names) === money(zero) ? '' : sign}${sum(names)} of MRR</strong>
                ${when}: ${choices[movement]?.[0].toLowerCase()}.`
        }
        ${first || last ? html`<a href="${whole}">Show the whole period</a>` : undefined}
      </p>
      <p class="quiet">
        Times are in UTC. Each amount is rounded once, so they may differ from their sum by minor
        units.
      </p>`;
  },
  columns: (visit) => [
    column.subscription,
    column.customer,
    column.numberedPlan,
    column.state('Change', ({ movement }) => [movementLines[movement].label, tones[movement]]),
    column.interval,
    {
      ...column.money('MRR', changeOf),
      cell: (row) => column.showMoney(visit, changeOf(row, visit), '+'),
      sum(values) {
        const names = namesOf(visit);
        const came = sumOf(
          values,
          inflows.filter((name) => names.includes(name)),
        );
        const left = sumOf(
          values,
          outflows.filter((name) => names.includes(name)),
        );
        return column.showMoney(visit, rounded(subtract(came, left), visit.shop), '+');
      },
    },
    column.time('When', ({ at }) => at, { head: 'Time (UTC)', sort: ['oldest', 'newest'] }),
  ],
  empty: {
    title: 'MRR did not change',
    text: 'No subscription began, came back, was paused or left in this period.',
  },
});

function changeOf(row: MovedRow, { shop }: { readonly shop: Shop }): number {
  return rounded(monthlyChangeOf(row), shop);
}
