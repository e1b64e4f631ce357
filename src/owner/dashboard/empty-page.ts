import { tiers } from '../../access/tiers.ts';
import { type Html, html } from '../../http/html.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import type { ShopVisit } from '../pages.ts';
import type { Source } from '../sources/sources.ts';
import { shopPath } from '../ui/layout.ts';
import { viewOf } from '../view/view.ts';
import { type Concerns, attention } from './attention.ts';
import { figureRows, heroFigures } from './rows.ts';
import { sampleFigures } from './sample.ts';
import { verdict } from './verdict.ts';

/** For a shop without data: the ways in, and behind them the page with the figures of a made-up shop. */
export function emptyOverview(
  visit: FiguresVisit,
  sources: readonly Source[],
  concerns: Concerns,
): Html {
  const { view } = visit;
  const sample = sampleFigures(visit.shop, viewOf(new URLSearchParams(), view.now));
  const connected = sources.find(({ state }) => state === 'connected');
  const isArriving = connected !== undefined && concerns.problems.length === 0;
  return html`${attention(visit, concerns, { now: view.now })}
    <div class="empty">
      <section class="card">
        <h2>${isArriving ? 'Your data is on its way' : 'See your own figures here'}</h2>
        ${isArriving ? arriving(visit, connected.platform.title) : waysIn(visit, sources)}
      </section>
      <div class="ghost">
        <p class="quiet">Sample figures of a made-up shop</p>
        <div inert>
          ${verdict(visit, sample)} ${heroFigures(visit, sample)} ${figureRows(visit, sample)}
        </div>
      </div>
    </div>`;
}

function arriving({ shop }: ShopVisit, title: string): Html {
  return html`<p>
      ${title} is connected. Figures appear here as soon as the first sync brings data.
    </p>
    <p><a class="button" href="${shopPath(shop, '/sources')}">See how far it is</a></p>`;
}

interface Way {
  readonly title: string;
  readonly text: string;
  readonly link: string;
  readonly path: `/app${string}`;
}

/** How data can come into a shop that has none. */
function waysIn({ shop }: ShopVisit, sources: readonly Source[]): Html {
  const path = shopPath(shop, '/sources');
  const ways: Way[] = [
    ...sources
      .filter(({ state }) => state === 'free')
      .map(({ platform: { name, title } }) => ({
        title: `From ${title}`,
        text: 'Subscriptions, plans and payments arrive by themselves.',
        link: `Connect ${title}`,
        path: `${path}#${name}` as const,
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
            path: `${path}/push/new` as const,
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
            <a class="button ${index === 0 ? '' : 'second'}" href="${way.path}">${way.link}</a>
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
