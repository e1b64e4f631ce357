import { exampleFigures } from '../../metrics/figures.ts';
import { type Movement, movements } from '../../metrics/facts.ts';
import { tiers } from '../../access/tiers.ts';
import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import type { Source } from '../sources/sources.ts';
import { type View, viewOf, isoDay } from '../view/view.ts';
import { type Concerns, attention } from './attention.ts';
import { figureRows, heroFigures } from './figures.ts';
import { verdict } from './verdict.ts';
import { type Period, day as dayMs } from '../../metrics/bounds.ts';
import type { Shop } from '../../store/shops.ts';
import type { Dashboard } from './dashboard.ts';
import { opens, shopPath } from '../site.ts';
import { sourcesLink } from '../ui/elements.ts';
import { emptyPage } from '../framework/empty.ts';
import type { FiguresVisit } from '../framework/page.ts';

/** For a shop without data: the ways in, and behind them the page with the figures of a made-up shop. */
export function emptyOverview(
  visit: FiguresVisit,
  sources: readonly Source[],
  concerns: Concerns | undefined,
): Html {
  const { view } = visit;
  const sample = sampleFigures(visit.shop, viewOf(new URLSearchParams(), view.now));
  const connected = sources.find(({ state }) => state === 'connected');
  const isArriving = connected !== undefined && concerns?.problems.length === 0;
  return html`${concerns && attention(visit, concerns, { now: view.now })}
  ${emptyPage(
    html`<h2>${isArriving ? 'Your data is on its way' : 'See your own figures here'}</h2>
      ${isArriving ? arriving(visit, connected.platform.title) : waysIn(visit, sources)}`,
    html`<p class="answer">${verdict(visit, sample)}</p>
      ${heroFigures(visit, sample)} ${figureRows(visit, sample)}`,
  )}`;
}

function arriving(visit: ShopVisit, title: string): Html {
  const path = '/sources';
  return html`<p>
      ${title} is connected. Figures appear here as soon as the first sync brings data.
    </p>
    ${
      opens(visit, path) &&
      html`<p><a class="button" href="${shopPath(visit.shop, path)}">See how far it is</a></p>`
    }`;
}

/** How data can come into a shop that has none. */
function waysIn(visit: ShopVisit, sources: readonly Source[]): Html {
  const { shop } = visit;
  if (!opens(visit, '/sources')) return html`<p>${sourcesLink(visit)}</p>`;
  const path = shopPath(shop, '/sources');
  const ways = [
    ...sources
      .filter(({ state }) => state === 'free')
      .map(({ platform: { name, title } }) => ({
        title: `From ${title}`,
        text: 'Subscriptions, plans and payments arrive by themselves.',
        link: `Connect ${title}`,
        path: `${path}#${name}`,
      })),
    {
      title: 'From a file',
      text: 'An export of your billing system, or a table. You see what it gives before anything is stored.',
      link: 'Import a file',
      path: `${path}/file/new`,
    },
    ...(tiers[shop.tier].hasApiAccess
      ? [
          {
            title: 'From your own systems',
            text: 'An address that takes your records, for your developer, together with its secret.',
            link: 'Create push source',
            path: `${path}/push/new`,
          },
        ]
      : []),
  ];
  return html`<ul class="ways">
      ${ways.map(
        (way, index) =>
          html`<li>
            <h3>${way.title}</h3>
            <p>${way.text}</p>
            <a class="button ${index === 0 ? '' : 'plain'}" href="${way.path}">${way.link}</a>
          </li>`,
      )}
    </ul>
    <details>
      <summary>For your developer</summary>
      <pre><code>retention import --shop ${shop.id} FILE</code></pre>
      <p class="after">
        The file has one record per line: plans, subscriptions, payments, refunds and cancel-flow
        sessions. Importing it again is safe: no record is counted twice.
      </p>
    </details>`;
}

function wave(middle: number, day: number, pace: number): number {
  return Math.round(middle * (1 + 0.3 * Math.sin(day * pace) + 0.15 * Math.sin(day * 2.3 * pace)));
}

/** The whole days of a period, from these figures on. */
const history = (period: Period, from: { readonly active: number; readonly mrr: number }) =>
  Array.from({ length: 29 }, (_, day): Dashboard['history'][number] => ({
    day: isoDay(period.from + (day + 1) * dayMs),
    activeSubscribers: from.active + day * 3 - (day % 4) * 2,
    mrr: from.mrr + day * 110 - (day % 5) * 60,
    newSubscribers: wave(50, day, 0.5),
    cancelled: wave(30, day, 0.4),
    churned: 3 + (day % 3),
    revenue: wave(1450, day, 0.6),
    failedPayments: wave(20, day, 0.7),
    recoveredPayments: wave(12, day, 0.7),
    sessions: {
      saved: wave(12, day, 0.45),
      cancelled: wave(20, day, 0.5),
      abandoned: 1,
      inProgress: 0,
    },
  }));

const noMovements = Object.fromEntries(movements.map((name) => [name, 0])) as Readonly<
  Record<Movement, number>
>;

const sampleMovements = { opening: 38_200, new: 5700, cancelled: 2400, closing: 41_500 };

/** The figures of a made-up shop, for the overview of a shop without data. */
export function sampleFigures({ currency }: Pick<Shop, 'currency'>, view: View) {
  const figures = (of: 'before' | 'now') => ({
    summary: { ...exampleFigures(of), generatedAt: '2026-01-31T00:00:00.000Z', currency },
    undefinedFigures: new Set<string>(),
    bases: { atRisk: 1300, dunningClosed: 60, sessionsEnded: 110, charged: 1400 },
  });
  return {
    ...figures('now'),
    movements: { ...noMovements, ...sampleMovements, currency },
    view,
    earlier: figures('before'),
    firstDay: 0,
    driver: { movement: 'new', from: 3900, interval: { unit: 'month', count: 1 } } as const,
    history: history(view.period, { active: 1164, mrr: 38_200 }),
    historyBefore: history(view.before, { active: 1120, mrr: 37_000 }),
  };
}
