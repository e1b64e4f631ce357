import { type Html, html } from '../../http/html.ts';
import {
  type ConditionName,
  type Segment,
  ages,
  conditionNames,
  segmentQuery,
} from '../../metrics/segments/segment.ts';
import { type SubscriptionStatus, subscriptionStatuses } from '../../vocabulary.ts';
import type { ShopVisit } from '../pages.ts';
import { everyInterval, statusLabels } from '../ui/labels.ts';
import { shopPath, token } from '../ui/layout.ts';
import type { SegmentChoices } from './choices.ts';
import { ageLabels, segmentWords } from './words.ts';

type Path = `/app${string}`;
type Option = readonly [value: string, label: string];

/** Parameters that a change of the segment ends: its conditions, and a place in the list shown before. */
const own = new Set<string>([...conditionNames, 'cursor']);

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
  const words = segment ? segmentWords(visit, segment, choices) : [];
  const here = pathOf(query);
  return html`<div class="picker segment" role="group" aria-label="Segment">
    <details class="menu">
      <summary>
        <span class="visually-hidden">Choose a segment. Shown:</span> ${
          words.length === 0 ? 'All subscriptions' : 'Segment'
        }
      </summary>
      ${conditionsForm(visit, segment, choices, { path, others })}
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
    ${segment || choices.saved.length > 0 ? savedMenu(visit, choices, { query, here, pathOf }) : undefined}
  </div>`;
}

function conditionsForm(
  visit: ShopVisit,
  segment: Segment = {},
  choices: SegmentChoices,
  { path, others }: { readonly path: Path; readonly others: readonly [string, string][] },
): Html {
  const query = segmentQuery(segment);
  const select = (name: ConditionName, label: string, options: readonly Option[]) => {
    const chosen = query.get(name);
    // What an address has may not be among the choices.
    const isListed = chosen === null || options.some(([value]) => value === chosen);
    return html`<p class="field">
      <label for="segment-${name}">${label}</label>
      <select id="segment-${name}" name="${name}">
        <option value="">Any</option>
        ${[...options, ...(isListed ? [] : [[chosen, chosen] as const])].map(
          ([value, text]) =>
            html`<option value="${value}" ${value === chosen ? html`selected` : undefined}>
              ${text}
            </option>`,
        )}
      </select>
    </p>`;
  };
  const { currency } = visit.shop;
  return html`<form method="get" action="${path}">
    ${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${select(
      'plan',
      'Plan',
      choices.plans.map(({ id, name }) => [String(id), name]),
    )}
    ${select(
      'group',
      'Group',
      choices.groups.map((name) => [name, name]),
    )}
    ${select(
      'product',
      'Product',
      choices.products.map(({ productId, title }) => [String(productId), title]),
    )}
    ${select(
      'interval',
      'Billed',
      choices.intervals.map((each) => [`${each.unit}-${each.count}`, everyInterval(visit, each)]),
    )}
    ${select(
      'status',
      'Status',
      subscriptionStatuses.map((each): Option => [each, labelOf(each)]),
    )}
    ${select(
      'age',
      'Age',
      ages.map((each): Option => [each, ageLabels[each]]),
    )}
    ${priceField('segment-price-from', `Price from, ${currency}`, segment.price?.from)}
    ${priceField('segment-price-to', `Price to, ${currency}`, segment.price?.to)}
    <p class="hint">Subscriptions that meet all of this today</p>
    <button>Show</button>
  </form>`;
}

/** One end of a price band: both ends have one name, and the address has them together. */
function priceField(id: string, label: string, value: string | undefined): Html {
  return html`<p class="field">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="price"
      inputmode="decimal"
      pattern="[0-9]+(\\.[0-9]+)?"
      title="A number, such as 10 or 9.50"
      autocomplete="off"
      value="${value}"
    />
  </p>`;
}

const labelOf = (status: SubscriptionStatus) => statusLabels[status][0];

/** The saved segments with links and buttons that delete them, and a form that saves the one shown. */
function savedMenu(
  visit: ShopVisit,
  { saved }: SegmentChoices,
  shown: {
    readonly query: URLSearchParams;
    readonly here: Path;
    pathOf(conditions: Iterable<[string, string]>): Path;
  },
): Html {
  const query = String(shown.query);
  const action = shopPath(visit.shop, '/segments');
  const known = saved.find((each) => each.query === query);
  return html`<details class="menu">
    <summary>${known ? known.name : 'Saved segments'}</summary>
    <div class="panel">
      ${
        saved[0] &&
        html`<ul>
          ${saved.map(
            (each) =>
              html`<li>
                <a
                  href="${shown.pathOf(new URLSearchParams(each.query))}"
                  ${each === known ? html`aria-current="true"` : undefined}
                  >${each.name}</a
                >
                <form method="post" action="${action}/delete">
                  ${token(visit)}
                  <input type="hidden" name="name" value="${each.name}" />
                  <input type="hidden" name="next" value="${shown.here}" />
                  <button class="plain" aria-label="Delete ${each.name}">Delete</button>
                </form>
              </li>`,
          )}
        </ul>`
      }
      ${
        known || query === ''
          ? undefined
          : html`<form method="post" action="${action}">
              ${token(visit)}
              <input type="hidden" name="query" value="${query}" />
              <input type="hidden" name="next" value="${shown.here}" />
              <p class="field">
                <label for="segment-name">Name</label>
                <input id="segment-name" name="name" required maxlength="80" autocomplete="off" />
              </p>
              <button>Save segment</button>
            </form>`
      }
    </div>
  </details>`;
}
