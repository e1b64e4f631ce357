import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import { arrivals } from '../dashboard/arrivals.ts';
import type { ShopVisit } from '../pages.ts';
import { page } from '../ui/answers.ts';
import { alert, layout, notice, shopPath, token } from '../ui/layout.ts';
import { formatCount } from '../ui/locale.ts';
import { showTime } from '../ui/times.ts';
import type { Source } from './sources.ts';

const notices: ReadonlyMap<string | null, string> = new Map([
  ['connected', 'Connected. The first sync fetches everything; larger shops take some minutes.'],
  ['disconnected', 'Disconnected. The data that is here stays, but no longer changes.'],
]);

interface SourcesPage {
  readonly sources: readonly Source[];
  readonly feeds: readonly FeedStatus[];
  /** What went wrong, for one platform. */
  readonly problem?: { readonly platform: string; readonly text: string; readonly given: string };
}

export function sourcesPage(
  visit: ShopVisit,
  { sources, feeds, problem }: SourcesPage,
  status = 200,
): Answer {
  const { shop } = visit;
  const content = html`
    ${notice(notices.get(visit.query.get('done')))}
    ${sources.map((source) =>
      card(visit, source, problem?.platform === source.platform.name ? problem : undefined),
    )}
    ${
      feeds.length === 0
        ? html`<section>
            <h2>What has arrived</h2>
            <p class="quiet">
              Nothing yet. A connected platform’s data appears here, and so do imported files.
            </p>
          </section>`
        : arrivals(visit, feeds)
    }
  `;
  return page(layout(visit, { title: 'Sources', content, shop, current: 'sources' }), status);
}

function card(visit: ShopVisit, source: Source, problem: SourcesPage['problem']): Html {
  const { platform } = source;
  return html`<section class="card" id="${platform.name}">
    <h2>${platform.title}</h2>
    ${source.problem === undefined ? undefined : alert(source.problem)}
    ${source.state === 'connected' ? connected(visit, source) : undefined}
    ${
      source.state === 'connectedByOperator'
        ? html`<p>The operator of this service has connected this shop.</p>
            ${freshness(visit, source)}`
        : undefined
    }
    ${source.state === 'free' ? connectForm(visit, source, problem) : undefined}
    ${source.state === 'off' ? off(source) : undefined}
  </section>`;
}

function connected(visit: ShopVisit, source: Source): Html {
  const { platform, account, connectedAt } = source;
  return html`<p>
      Connected to <strong>${account}</strong>
      ${connectedAt && html`since ${showTime(visit, connectedAt)}`}.
    </p>
    ${freshness(visit, source)}
    <p>
      <a href="${shopPath(visit.shop, `/sources/${platform.name}/disconnect`)}"
        >Disconnect ${platform.title}</a
      >
    </p>`;
}

function freshness(visit: ShopVisit, { feed, fetched, problem }: Source): Html | undefined {
  if (fetched !== undefined) {
    if (problem !== undefined) return undefined;
    return html`<p role="status">
      Fetching everything for the first time: ${formatCount(visit, fetched)}
      ${fetched === 1 ? 'subscription' : 'subscriptions'} so far. Reload the page to see more.
    </p>`;
  }
  return feed?.completedAt
    ? html`<p>Up to date as of ${showTime(visit, feed.completedAt)}.</p>`
    : undefined;
}

function connectForm(
  { shop }: ShopVisit,
  { platform, authorization }: Source,
  problem: SourcesPage['problem'],
): Html | undefined {
  if (!authorization) return off({ platform });
  const { name, title } = platform;
  const hint = `${name}-hint`;
  return html`<p>
      Your subscriptions, plans and payments arrive by themselves, and stay up to date.
    </p>
    ${alert(problem?.text)}
    <form method="get" action="${shopPath(shop, `/sources/${name}/connect`)}">
      <p class="field">
        <label for="${name}-account">${authorization.accountLabel}</label>
        <input
          id="${name}-account"
          name="account"
          value="${problem?.given ?? ''}"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
          required
          aria-describedby="${hint}"
        />
        <span class="hint" id="${hint}">For example ${authorization.accountExample}</span>
      </p>
      <button>Connect ${title}</button>
    </form>`;
}

function off({ platform: { title, settings } }: Pick<Source, 'platform'>): Html {
  const variables = [settings.clientId, settings.webhookSecrets.variable, 'CREDENTIALS_KEY'];
  return html`<p>
      ${title} cannot be connected here yet, because this service is not registered with it.
    </p>
    <p class="quiet">
      Ask the operator of this service to set it up. They need to set ${list(variables)}.
    </p>`;
}

function list(names: readonly (string | undefined)[]): Html[] {
  const known = names.filter((name) => name !== undefined);
  return known.map((name, index) => {
    const end = index === known.length - 1 ? '' : index === known.length - 2 ? ' and ' : ', ';
    return html`<code>${name}</code>${end}`;
  });
}

interface Consent {
  readonly source: Source;
  readonly account: string;
  /** Where the owner agrees. */
  readonly address: string;
}

/** What we will read, before the owner agrees at the platform. */
export function consentPage(visit: ShopVisit, { source, account, address }: Consent): Answer {
  const { shop } = visit;
  const { title } = source.platform;
  const content = html`<section class="card">
    <p>${title} will ask you to let this service read from <strong>${account}</strong>:</p>
    <ul>
      ${source.authorization?.scopes.map((scope) => html`<li>${scope}</li>`)}
    </ul>
    <p class="quiet">
      It changes nothing there. You can disconnect at any time, here or at ${title}.
    </p>
    <p><a class="button" href="${address}">Continue to ${title}</a></p>
  </section>`;
  const breadcrumb = { path: shopPath(shop, '/sources'), label: 'Sources' };
  return page(
    layout(visit, { title: `Connect ${title}`, content, shop, current: 'sources', breadcrumb }),
  );
}

export function disconnectPage(visit: ShopVisit, { platform, account }: Source): Answer {
  const { shop } = visit;
  const { name, title } = platform;
  const content = html`<section class="card">
    <p>
      We delete what lets us read from <strong>${account}</strong>. The data that is here stays, but
      changes at ${title} no longer arrive.
    </p>
    <p class="quiet">To take the app’s access away altogether, uninstall it at ${title}.</p>
    <form method="post" action="${shopPath(shop, `/sources/${name}/disconnect`)}">
      ${token(visit)}<button class="danger">Disconnect ${title}</button>
    </form>
  </section>`;
  const breadcrumb = { path: shopPath(shop, '/sources'), label: 'Sources' };
  return page(
    layout(visit, { title: `Disconnect ${title}`, content, shop, current: 'sources', breadcrumb }),
  );
}
