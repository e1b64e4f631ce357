import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Dashboard } from './dashboard.ts';
import { type Change, type Compared, changeOf } from './changes.ts';
import { type Figure, figureGroups } from './figures.ts';
import type { ShopVisit } from '../pages.ts';
import { formatCount, formatMoney, formatShare, localeOf } from '../ui/locale.ts';
import { sparkline } from '../charts/sparkline.ts';

type Shown = Compared & Pick<Dashboard, 'history'>;

/** The fifteen figures in their groups. */
export function figureCards(visit: ShopVisit, data: Shown): Html {
  const groups = figureGroups.map(
    ({ title, figures }) =>
      html`<section class="group">
        <h2>${title}</h2>
        <dl>${figures.map((figure) => card(visit, figure, data))}</dl>
      </section>`,
  );
  return html`<div class="groups">${groups}</div>`;
}

function card(visit: ShopVisit, figure: Figure, data: Shown): Html {
  const { field, name, period, definition, byDay } = figure;
  const value = data.undefinedFigures.has(field)
    ? '–'
    : formatValue(visit, figure, data.summary[field]);
  return html`<div class="figure">
    <dt>
      ${name} ${period === undefined ? undefined : html`<small>${period}</small>`}
      <button
        class="help"
        type="button"
        popovertarget="definition-${field}"
        aria-label="${name}: definition"
      >
        ?
      </button>
      <span class="definition" id="definition-${field}" popover>${definition}</span>
    </dt>
    <dd class="value">
      <bdi data-figure="${field}">${value}</bdi>
      ${byDay && sparkline(data.history.slice(-30).map(byDay))}
    </dd>
    <dd class="change">${describeChange(visit, figure, changeOf(figure, data))}</dd>
  </div>`;
}

function formatValue(visit: ShopVisit, { format }: Figure, value: number): string {
  if (format === 'count') return formatCount(visit, value);
  return format === 'money' ? formatMoney(visit, visit.shop, value) : formatShare(visit, value);
}

function describeChange(
  visit: ShopVisit,
  figure: Figure,
  change: Change | string | undefined,
): HtmlValue {
  if (change === undefined || typeof change === 'string') return change;
  const { by, from, judgement } = change;
  if (by === 0) return html`Unchanged`;
  return html`<strong class="${judgement ?? 'neutral'}"
      >${by > 0 ? '↑' : '↓'}
      <bdi>${formatChange(visit, figure, change)}</bdi>
      ${judgement && html`<span class="visually-hidden">${judgement}</span>`}</strong
    >
    from <bdi>${formatValue(visit, figure, from)}</bdi>`;
}

/** The size of a change; the arrow shows its direction. */
function formatChange(visit: ShopVisit, { format }: Figure, { kind, by }: Change): string {
  const locale = localeOf(visit);
  const size = Math.abs(by);
  if (kind === 'relative') {
    return new Intl.NumberFormat(locale, {
      style: 'percent',
      // One decimal place, or more where a small change would be rounded to 0.
      maximumFractionDigits: 1,
      maximumSignificantDigits: 2,
      roundingPriority: 'morePrecision',
    }).format(size);
  }
  if (format === 'share') {
    const points = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }).format(size * 100);
    return `${points} points`;
  }
  return format === 'money' ? formatMoney(visit, visit.shop, size) : formatCount(visit, size);
}
