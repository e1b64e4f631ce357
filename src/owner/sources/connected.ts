import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { formatCount } from '../ui/locale.ts';
import { showAgo, showTime } from '../ui/times.ts';
import type { Source } from './sources.ts';

type Connected = Source & { state: 'connected' };

const words = {
  first: { dot: '', word: 'First sync' },
  resuming: { dot: '', word: 'Catching up' },
  current: { dot: 'good', word: 'Up to date' },
  late: { dot: 'attention', word: 'Late' },
  failing: { dot: 'attention', word: 'Sync failed' },
  ended: { dot: 'bad', word: 'Access ended' },
} as const;

/** The state of a source in a word or two, and its colour. */
export function connectionState(source: Source): { readonly dot: string; readonly word: string } {
  switch (source.state) {
    case 'off':
      return { dot: '', word: 'Not available' };
    case 'free':
      return { dot: '', word: 'Not connected' };
    case 'connected':
      return words[source.status.kind];
  }
}

/** The account, how fresh its data is, and what can be done about it. */
export function connectedPart(visit: ShopVisit, source: Connected, now: number): Html {
  const { platform, account, connectedAt, origin } = source;
  const { name, title } = platform;
  const path = shopPath(visit.shop, `/sources/${name}`);
  const again = `${path}/connect?${new URLSearchParams({ account })}`;
  const isEnded = source.status.kind === 'ended';
  return html`${freshness(visit, source, now)}
    <dl class="details">
      <dt>Account</dt>
      <dd>${account}</dd>
      <dt>Connected</dt>
      <dd>${connectedAt ? showTime(visit, connectedAt) : 'by the operator of this service'}</dd>
    </dl>
    ${
      origin === 'database'
        ? html`<p class="actions">
            ${isEnded ? html`<a class="button" href="${again}">Connect again</a>` : undefined}
            <a href="${path}/disconnect">Disconnect ${title}</a>
          </p>`
        : undefined
    }`;
}

function freshness(visit: ShopVisit, source: Connected, now: number): Html {
  const { platform, status, origin, account } = source;
  switch (status.kind) {
    case 'first': {
      const { subscriptions: count } = status;
      return html`<p role="status">
        Everything is being fetched, which takes some minutes for a large shop:
        ${formatCount(visit, count)} ${count === 1 ? 'subscription' : 'subscriptions'} so far.
        <a href="${shopPath(visit.shop, '/sources')}">Refresh</a>
      </p>`;
    }
    case 'resuming':
      return html`<p role="status">
        Whatever changed since ${showTime(visit, status.completedAt)} is being fetched.
        <a href="${shopPath(visit.shop, '/sources')}">Refresh</a>
      </p>`;
    case 'current':
      return html`<p>Last synced ${showAgo(status.completedAt, now)}.</p>`;
    case 'late':
      return html`<p>
        Last synced ${showAgo(status.completedAt, now)}. If this does not change within the next
        hour, tell the operator of this service.
      </p>`;
    case 'failing':
      return html`<p role="status">
        The last sync failed. The next attempt is within the hour. If syncs keep failing, tell the
        operator of this service.
      </p>`;
    case 'ended':
      return html`<p role="status">
        ${platform.title} no longer lets this service read from ${account}. The data that is here
        stays, but no longer changes.
        ${
          origin === 'database'
            ? 'Connect again to go on.'
            : 'Ask the operator of this service to connect it again.'
        }
      </p>`;
  }
}
