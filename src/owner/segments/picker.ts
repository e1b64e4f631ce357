import { parseInterval } from '../../mrr.ts';
import { type Html, html } from '../../http/html.ts';
import {
  type ConditionName,
  type Segment,
  type Age,
  conditionNames,
  parseSegment,
  segmentQuery,
} from '../../metrics/segments/segment.ts';
import { subscriptionStatuses } from '../../vocabulary.ts';
import type { ShopVisit, OwnerParts } from '../pages.ts';
import { everyInterval, statusLabels } from '../ui/labels.ts';
import { type SavedSegment, listSegments } from '../../store/owners/segments.ts';
import { countOf, formatMoney } from '../ui/formats.ts';
import { type RowCount, upTo } from '../framework/list.ts';
import { countSegment, maxCounted } from '../../metrics/segments/subscriptions.ts';
import { SegmentTooLarge } from '../../metrics/segments/time-limit.ts';
import { type View, segmentOf } from '../view/view.ts';
import { listPlans } from '../../operations/list-plans.ts';
import { listProducts } from '../../store/records/plans.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import { ask } from '../ask.ts';
import { type Path, shopPath } from '../site.ts';
import { notice } from '../ui/elements.ts';
import { type Option, hiddenFields, inputField, selectField, token } from '../ui/fields.ts';

/** Parameters that a change of the segment ends: its conditions, a place in the list shown before, and what was done. */
const own = new Set<string>([...conditionNames, 'cursor', 'done', 'segment']);

/**
 * Chooses the segment of a page, by a form and links, and saves it under a name; all other parameters of the address
 * stay.
 * @param path of the page, without its query
 */
export function segmentPicker(
  visit: ShopVisit,
  segment: Segment | undefined,
  choices: SegmentChoices,
  path: Path,
): Html {
  const others = [...visit.query].filter(([name]) => !own.has(name));
  const pathOf = (conditions: Iterable<[string, string]>): Path => {
    const query = new URLSearchParams([...others, ...conditions]);
    return query.size === 0 ? path : `${path}?${query}`;
  };
  const query = segmentQuery(segment);
  const { wrong } = parseSegment(visit.query);
  const words = segment ? segmentWords(visit, segment, choices) : [];
  const here = pathOf(query);
  const known = choices.saved.find((each) => each.query === String(query));
  // A shop can have hundreds of plans and products.
  const isOpen = wrong.length > 0 || visit.query.has('segment');
  return html`<div class="picker segment" role="group" aria-label="Segment">
    <details class="menu" ${isOpen && html`open`}>
      <summary>
        <span class="visually-hidden">Choose a segment. Shown:</span> ${
          words.length === 0 ? 'All subscriptions' : 'Segment'
        }
      </summary>
      <div class="panel">
        ${
          isOpen
            ? conditionsForm(visit, segment, choices, { path, others, wrong })
            : html`<a href="${pathOf([...query, ['segment', 'open']])}" data-loads=".segment .panel"
                >Choose conditions</a
              >`
        }
      </div>
    </details>
    ${
      segment &&
      html`<ul class="chips">
        ${words.map(
          ([name, label]) =>
            html`<li>
              <span>${label}</span>
              <a
                href="${pathOf([...query].filter(([each]) => each !== name))}"
                aria-label="Remove ${label}"
                >×</a
              >
            </li>`,
        )}
      </ul>`
    }
    ${(segment || choices.saved.length > 0) && savedMenu()} ${notice(doneOf(visit, known))}
  </div>`;

  /** The saved segments with links and buttons that delete them, and a form that saves the one shown. */
  function savedMenu(): Html {
    const action = shopPath(visit.shop, '/segments');
    return html`<details class="menu">
      <summary>${known ? known.name : 'Saved segments'}</summary>
      <div class="panel">
        ${
          choices.saved[0] &&
          html`<ul>
            ${choices.saved.map(
              (each) =>
                html`<li>
                  <a
                    href="${pathOf(new URLSearchParams(each.query))}"
                    ${each === known && html`aria-current="true"`}
                    >${each.name}</a
                  >
                  <form method="post" action="${action}/delete">
                    ${token(visit)} ${hiddenFields(Object.entries({ name: each.name, next: here }))}
                    <button class="plain" aria-label="Delete ${each.name}">Delete</button>
                  </form>
                </li>`,
            )}
          </ul>`
        }
        ${
          !known &&
          segment &&
          html`<form class="save" method="post" action="${action}">
            ${token(visit)} ${hiddenFields(Object.entries({ query: String(query), next: here }))}
            ${inputField(
              { id: 'segment-name', name: 'name', label: 'Name' },
              html`required maxlength="80" autocomplete="off"`,
            )}
            <button>Save segment</button>
          </form>`
        }
      </div>
    </details>`;
  }
}

/** What became of a form of saved segments. */
function doneOf({ query }: ShopVisit, known: SavedSegment | undefined): string | undefined {
  const done = query.get('done');
  if (done === 'segment-deleted') return 'Segment deleted.';
  return done === 'segment-saved' && known ? `Saved as “${known.name}”.` : undefined;
}

const numbered = ({ id, name }: Named): Option => [String(id), name];

function conditionsForm(
  visit: ShopVisit,
  segment: Segment = {},
  choices: SegmentChoices,
  form: {
    readonly path: Path;
    readonly others: readonly [string, string][];
    /** The conditions in error, which keep what they say. */
    readonly wrong: readonly ConditionName[];
  },
): Html {
  const { path, others, wrong } = form;
  const query = segmentQuery(segment);
  const errorIn = (name: ConditionName, isFirst = true) => ({
    isInvalid: wrong.includes(name),
    getsFocus: wrong[0] === name && isFirst,
  });
  const select = (name: ConditionName, label: string, options: readonly Option[]) => {
    const asked = (wrong.includes(name) ? visit.query : query).get(name) ?? undefined;
    // What an address has may not be among the choices.
    const isListed = asked === undefined || options.some(([value]) => value === asked);
    return selectField({
      id: `segment-${name}`,
      name,
      label,
      none: 'Any',
      selected: asked,
      options: isListed ? options : [...options, [asked, asked]],
      ...errorIn(name),
    });
  };
  const groups = choices.groups.map((name): Option => [name, name]);
  const intervals = choices.intervals.map((each): Option => [
    `${each.unit}-${each.count}`,
    everyInterval(visit, each),
  ]);
  const statuses = subscriptionStatuses.map((each): Option => [each, statusLabels[each][0]]);
  /** One end of a price band: both have one name. */
  const priceField = (end: 'from' | 'to', value = '') =>
    inputField(
      {
        id: `segment-price-${end}`,
        name: 'price',
        label: `Price ${end}, ${visit.shop.currency}`,
        value,
        ...errorIn('price', end === 'from'),
      },
      html`inputmode="decimal" pattern="[0-9]+(\\.[0-9]+)?" title="A number, such as 10 or 9.50"
      autocomplete="off"`,
    );
  // A form sends both ends, an address may have them together.
  const { from, to } = segment.price ?? {};
  const [first, last] = wrong.includes('price') ? visit.query.getAll('price') : [from, to];
  return html`<form
    method="get"
    action="${path}"
    data-count="${shopPath(visit.shop, '/segments/count')}"
  >
    ${hiddenFields(others)} ${select('plan', 'Plan', choices.plans.map(numbered))}
    ${select('group', 'Group', groups)}
    ${select('product', 'Product', choices.products.map(numbered))}
    ${select('interval', 'Billed', intervals)} ${select('status', 'Status', statuses)}
    ${select('age', 'Age', Object.entries(ageLabels))} ${priceField('from', first)}
    ${priceField('to', last)}
    <p class="hint">Subscriptions that meet all of this today:</p>
    <output>${choices.count}</output>
    <button>Show</button>
  </form>`;
}

const ageLabels: Readonly<Record<Age, string>> = {
  '0-1': 'under 1 month old',
  '1-3': '1 to 3 months old',
  '3-6': '3 to 6 months old',
  '6-12': '6 to 12 months old',
  '12-': '12 months or older',
};

/** Each condition of a segment in a few words. */
function segmentWords(
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
  const money = (text: string) => formatMoney(visit, Number(text));
  if (from === undefined) return `at most ${money(to ?? '0')}`;
  return to === undefined ? `at least ${money(from)}` : `${money(from)} to ${money(to)}`;
}

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
  /** How many subscriptions the segment shown has, in words. */
  readonly count: string | undefined;
}

const maxProducts = 500;

/** @param view what its address says */
export async function readSegmentChoices(
  parts: OwnerParts,
  visit: ShopVisit,
  view: Pick<View, 'segment' | 'now'>,
): Promise<SegmentChoices> {
  const { shop } = visit;
  const [{ plans }, products, saved, count] = await Promise.all([
    ask(parts, shop, listPlans, {}),
    parts.store.readRecent(shop.id, ({ subscriptions }) =>
      listProducts(subscriptions, shop.id, maxProducts),
    ),
    listSegments(parts.store.write, shop.id),
    countInWords(parts, visit, view),
  ]);
  const intervals = plans.map((each) => ({ unit: each.intervalUnit, count: each.intervalCount }));
  return {
    plans: distinct(plans.map(({ id, name }) => ({ id, name }))),
    groups: [...new Set(plans.map(({ groupName }) => groupName))].filter((name) => name !== ''),
    intervals: [...new Map(intervals.map((each) => [`${each.unit} ${each.count}`, each])).values()],
    products: distinct(products.map(({ productId: id, title: name }) => ({ id, name }))),
    saved,
    count,
  };
}

export async function countInWords(
  parts: OwnerParts,
  visit: ShopVisit,
  view: Pick<View, 'segment' | 'now'>,
): Promise<string | undefined> {
  const count = await countOfSegment(parts, visit, view);
  if (typeof count !== 'object') {
    return count === undefined ? undefined : countOf(visit, count, 'subscription');
  }
  return `over ${countOf(visit, count.moreThan, 'subscription')}`;
}

/** Undefined without a segment, and of one that has too many to count. */
export async function countOfSegment(
  { store }: OwnerParts,
  visit: ShopVisit,
  view: Pick<View, 'segment' | 'now'>,
): Promise<RowCount | undefined> {
  const segment = segmentOf(view);
  if (!segment) return undefined;
  try {
    const found = await store.readRecent(visit.shop.id, ({ segments }) =>
      countSegment(segments, visit.shop.id, segment),
    );
    return upTo(maxCounted, found);
  } catch (error) {
    if (error instanceof SegmentTooLarge) return undefined;
    throw error;
  }
}

function distinct(rows: readonly Named[]): Named[] {
  const byName = Map.groupBy(rows, ({ name }) => name);
  return rows.map(({ id, name }) =>
    byName.get(name)?.length === 1 ? { id, name } : { id, name: `${name} (${id})` },
  );
}
