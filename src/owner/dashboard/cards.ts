import { type Html, html } from '../../http/html.ts';
import type { Dashboard } from './dashboard.ts';
import { type Change, changeOf } from './changes.ts';
import { type Figure, figureGroups } from './figures.ts';
import type { ShopVisit } from '../pages.ts';
import { formatCount, formatMoney, formatShare, localeOf } from '../ui/locale.ts';
import { sparkline } from './sparkline.ts';

/** The fifteen figures in their groups. */
export function figureCards(visit: ShopVisit, data: Dashboard): Html {
  const groups = figureGroups.map(
    ({ title, figures }) =>
      html`<section class="group">
        <h2>${title}</h2>
        <dl>${figures.map((figure) => card(visit, figure, data))}</dl>
      </section>`,
  );
  return html`<div class="groups">${groups}</div>`;
}

function card(visit: ShopVisit, figure: Figure, data: Dashboard): Html {
  const { field, name, period, counts, byDay } = figure;
  return html`<div class="figure">
    <dt>
      ${name} ${period === undefined ? undefined : html`<small>${period}</small>`}
      <button
        class="why"
        type="button"
        popovertarget="why-${field}"
        aria-label="${name}: what is counted"
      >
        ?
      </button>
      <span class="reason" id="why-${field}" popover>${counts}</span>
    </dt>
    <dd class="value">
      <bdi data-figure="${field}">${write(visit, figure, data.summary[field])}</bdi>
      ${byDay && sparkline(data.history.slice(-30).map(byDay))}
    </dd>
    <dd class="change">${describe(visit, figure, changeOf(figure, data))}</dd>
  </div>`;
}

function write(visit: ShopVisit, { shows }: Figure, value: number): string {
  if (shows === 'count') return formatCount(visit, value);
  return shows === 'money' ? formatMoney(visit, visit.shop, value) : formatShare(visit, value);
}

function describe(visit: ShopVisit, figure: Figure, change: Change | undefined): Html | undefined {
  if (!change) return undefined;
  const { by, from, judgement } = change;
  const before = html`<bdi>${write(visit, figure, from)}</bdi>`;
  if (by === 0) return html`Unchanged`;
  return html`<strong class="${judgement ?? 'neither'}"
      ><bdi>${writeChange(visit, figure, change)}</bdi> ${judgement}</strong
    >
    from ${before}`;
}

function writeChange(visit: ShopVisit, { shows }: Figure, { kind, by }: Change): string {
  const locale = localeOf(visit);
  if (kind === 'relative') {
    return new Intl.NumberFormat(locale, {
      style: 'percent',
      signDisplay: 'always',
      // One decimal; more where a small change would be written as none.
      maximumFractionDigits: 1,
      maximumSignificantDigits: 2,
      roundingPriority: 'morePrecision',
    }).format(by);
  }
  if (shows === 'share') {
    const points = new Intl.NumberFormat(locale, {
      signDisplay: 'always',
      maximumFractionDigits: 2,
    }).format(by * 100);
    return `${points} points`;
  }
  const text = shows === 'money' ? formatMoney(visit, visit.shop, by) : formatCount(visit, by);
  return by > 0 ? `+${text}` : text;
}
