import { type Html, html } from '../../http/html.ts';
import type { Period } from '../../metrics/bounds.ts';
import { conditionNames } from '../../metrics/segments/segment.ts';
import type { ShopVisit } from '../pages.ts';
import { dateFormat, localeOf } from '../ui/formats.ts';
import {
  type Preset,
  type View,
  comparisons,
  isDay,
  periods,
  presets,
  viewQuery,
  isoDay,
} from './view.ts';
import { alert } from '../ui/elements.ts';
import { hiddenFields, inputField } from '../ui/fields.ts';
import { type Path, shopPath } from '../site.ts';

/** What the picker itself sets, days and a place in a list of the period shown before, and what was done there. */
const own = new Set(['days', 'period', 'from', 'to', 'compare', 'first', 'last', 'cursor', 'done']);

/**
 * Chooses the period of a page and what it is compared with, by links and a form. All other parameters of the address
 * stay.
 * @param path of the page, without its query
 * @param isCompared whether the page has figures of the other period, too
 */
export function periodPicker(visit: ShopVisit, view: View, path: Path, isCompared = true): Html {
  const others = [...visit.query].filter(([name]) => !own.has(name));
  const { range, comparison, period, before } = view;
  const link = (changed: Partial<View>, isCurrent: boolean, label: string) => {
    const query = viewQuery({ ...view, ...changed });
    const set = new Set(query.keys());
    for (const [name, value] of others) if (!set.has(name)) query.append(name, value);
    return html`<li>
      <a
        href="${query.size === 0 ? path : `${path}?${query}`}"
        ${isCurrent && html`aria-current="true"`}
        >${label}</a
      >
    </li>`;
  };
  return html`<div class="picker">
    <ul class="periods" aria-label="Period">
      ${periods.map((days) =>
        link({ range: { days } }, 'days' in range && range.days === days, `${days} days`),
      )}
    </ul>
    <details class="menu" ${view.wrongDates.length > 0 && html`open`}>
      <summary>
        <span class="visually-hidden">Choose dates. Shown:</span> ${showPeriod(visit, period)}
      </summary>
      <div class="panel">
        <ul>
          ${(Object.keys(presets) as Preset[]).map((preset) =>
            link(
              { range: { preset } },
              'preset' in range && range.preset === preset,
              presets[preset].label,
            ),
          )}
        </ul>
        ${dateForm(visit, view, path, others)}
      </div>
    </details>
    ${isCompared && comparisonMenu()}
  </div>`;

  function comparisonMenu(): Html {
    return html`<details class="menu">
      <summary>
        <span class="against">vs</span>
        <span title="${showPeriod(visit, before)}">${comparisons[comparison]}</span>
      </summary>
      <ul>
        ${(['before', 'year'] as const).map((each) =>
          link({ comparison: each }, each === comparison, comparisons[each]),
        )}
      </ul>
    </details>`;
  }
}

/** What is wrong with the address, or does not apply. */
export function viewProblem({ query }: ShopVisit, { problem, segment }: View): Html | undefined {
  if (problem !== undefined) return alert(problem);
  const isIgnored = !segment && conditionNames.some((name) => query.has(name));
  return isIgnored
    ? html`<p class="quiet">This page shows all subscriptions; segments do not apply to it.</p>`
    : undefined;
}

/**
 * Links that choose one of a few by a parameter of the address; all others stay. None for a single choice.
 * @param chosen `initial` is the one without the parameter
 */
export function choices(
  { query, shop, page }: ShopVisit,
  chosen: { name: string; label: string; shown: string | undefined; initial?: string | undefined },
  options: readonly (readonly [value: string, label: string])[],
): Html | undefined {
  if (options.length < 2) return undefined;
  const { name, label, shown, initial } = chosen;
  const link = ([value, text]: readonly [string, string]) => {
    const to = new URLSearchParams([...query].filter(([each]) => each !== name && each !== 'done'));
    if (value !== initial) to.set(name, value);
    return html`<li>
      <a
        href="${shopPath(shop, page?.path ?? '')}${to.size > 0 && `?${to}`}"
        ${value === shown && html`aria-current="true"`}
        >${text}</a
      >
    </li>`;
  };
  return html`<ul class="periods" aria-label="${label}">
    ${options.map(link)}
  </ul>`;
}

function dateForm(
  { query }: ShopVisit,
  { period, comparison, now, wrongDates }: View,
  path: Path,
  others: [string, string][],
): Html {
  const field = (name: 'from' | 'to', label: string, shown: string) => {
    const value = wrongDates.length > 0 ? (query.get(name) ?? '') : shown;
    // Browsers empty a box for dates of any other text.
    const type = value === '' || isDay(value) ? 'date' : 'text';
    const error = { isInvalid: wrongDates.includes(name), getsFocus: wrongDates[0] === name };
    return inputField(
      { id: name, label, value, ...error },
      html`type="${type}" required max="${isoDay(now)}"`,
    );
  };
  return html`<form method="get" action="${path}">
    ${hiddenFields([...others, ...(comparison === 'before' ? [] : [['compare', comparison] as const])])}
    ${field('from', 'First day', isoDay(period.from))}
    ${field('to', 'Last day', isoDay(period.until - 1))}
    <p class="hint">Whole days in UTC</p>
    <button>Show</button>
  </form>`;
}

/** The days of a period, from the first to the last; of an empty one, the day that it is on. */
export function showPeriod(visit: ShopVisit, { from, until }: Period): string {
  const format = dateFormat(localeOf(visit), { dateStyle: 'medium' });
  return format.formatRange(from, Math.max(from, until - 1));
}
