import { type Html, html } from '../../http/html.ts';
import { type Keeper, namesOf } from '../../platforms/keeper.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../site.ts';
import { capitalised, countOf, formatCount, showAgo, showTime } from '../ui/formats.ts';
import { postForm } from '../ui/fields.ts';
import { plainTable } from '../ui/table.ts';
import type { Source } from './sources.ts';

type Connected = Source & { state: 'connected' };

const words = {
  off: { dot: '', word: 'Not available' },
  free: { dot: '', word: 'Not connected' },
  draft: { dot: 'risk', word: 'Waiting for you' },
  first: { dot: '', word: 'First sync' },
  resuming: { dot: '', word: 'Catching up' },
  current: { dot: 'kept', word: 'Up to date' },
  late: { dot: 'risk', word: 'Late' },
  failing: { dot: 'risk', word: 'Sync failed' },
  retrying: { dot: '', word: 'Trying again' },
  ended: { dot: 'lost', word: 'Access ended' },
} as const;

/** The state of a source in a word or two, and its colour. */
export function connectionState(source: Source) {
  if (source.state !== 'connected') return words[source.state];
  const { status } = source;
  return words[status.kind === 'failing' && status.isDue ? 'retrying' : status.kind];
}

/** The account, how fresh its data is, and what can be done about it. */
export function connectedPart(visit: ShopVisit, source: Connected, now: number): Html {
  const { account, connectedAt, origin } = source;
  return html`${freshness(visit, source, now)}
    <dl class="details">
      <dt>Account</dt>
      <dd>${account}</dd>
      <dt>Connected</dt>
      <dd>${connectedAt ? showTime(visit, connectedAt) : 'by the operator of this service'}</dd>
    </dl>
    ${streamsTable(visit, source, now)} ${refusedPart(visit, source, now)}
    ${origin === 'database' ? actions(visit, source) : undefined}`;
}

function actions(visit: ShopVisit, { platform, authorization, account, status }: Connected): Html {
  const { name, title, form } = platform;
  const path = shopPath(visit.shop, `/sources/${name}`);
  const again = `${path}/connect?${new URLSearchParams({ account })}`;
  const isEnded = status.kind === 'ended';
  if (status.kind === 'draft') {
    return html`<p class="actions">
      <a class="button" href="${path}/check">Check and start</a>
      <a href="${path}/disconnect">Remove</a>
    </p>`;
  }
  return html`<p class="actions">
    ${isEnded && authorization ? html`<a class="button" href="${again}">Connect again</a>` : undefined}
    ${
      form &&
      html`<a ${isEnded ? html`class="button"` : undefined} href="${path}/form">
        Replace ${form.secretName}
      </a>`
    }
    <a href="${path}/disconnect">Disconnect ${title}</a>
  </p>`;
}

function freshness(visit: ShopVisit, source: Connected, now: number): Html {
  const { platform, status, origin, account, authorization } = source;
  const { title, form } = platform;
  const path = shopPath(visit.shop, '/sources');
  // Without the script that reloads the page.
  const refresh = html`<a href="${path}">Refresh</a>`;
  switch (status.kind) {
    case 'draft':
      return html`<p>Your access works. Nothing is stored until you start it.</p>`;
    case 'first': {
      const read = source.streams.reduce((sum, { rows }) => sum + rows, 0);
      const soFar =
        source.streams.length > 0
          ? countOf(visit, read, 'row')
          : countOf(visit, status.subscriptions, 'subscription');
      return html`<p role="status" data-refresh>
        Everything is being fetched, which takes some minutes for a large shop: ${soFar} so far.
        ${refresh}
      </p>`;
    }
    case 'resuming':
      return html`<p role="status" data-refresh>
        Whatever changed since ${showTime(visit, status.completedAt)} is being fetched. ${refresh}
      </p>`;
    case 'current':
      return html`<p>Last synced ${showAgo(status.completedAt, now)}.</p>`;
    case 'late':
      return html`<p>
        Last synced ${showAgo(status.completedAt, now)}. If this does not change within the next
        hour, tell the operator of this service.
      </p>`;
    case 'failing': {
      const { reason, isDue } = status;
      const failed = `The last sync failed${reason === null ? '' : `: ${reason}`}`;
      const failure = failed.endsWith('.') ? failed : `${failed}.`;
      return isDue
        ? html`<p role="status" data-refresh>
            ${failure} The next attempt begins within seconds, or is under way. ${refresh}
          </p>`
        : html`<p role="status">
              ${failure} The next attempt is within the hour. If syncs keep failing, tell the
              operator of this service.
            </p>
            ${postForm(
              visit,
              `${path}/${platform.name}/retry`,
              html`<p class="actions"><button>Try again</button></p>`,
              'plain',
            )}`;
    }
    case 'ended':
      return html`<p role="status">
        ${title} no longer lets this service read from ${account}. The data that is here stays, but
        no longer changes.${status.reason === null || authorization ? '' : ` ${status.reason}`}
        ${
          origin !== 'database' || !(form ?? authorization)
            ? 'Ask the operator of this service to connect it again.'
            : form
              ? `Replace the ${form.secretName} to go on.`
              : 'Connect again to go on.'
        }
      </p>`;
  }
}

/** How far each stream has been read. */
function streamsTable(
  visit: ShopVisit,
  { platform: { title }, streams, status }: Connected,
  now: number,
): Html | undefined {
  // Some only say what is to be read again.
  const bringing = streams.filter(({ types }) => types.length > 0);
  if (bringing.length === 0) return undefined;
  const isFirst = status.kind === 'first';
  return plainTable(
    bringing,
    [
      ['Stream', ({ stream }) => stream, 'head'],
      ['Brings', ({ types }) => namesOf(types)],
      [
        'Last read',
        ({ readAt }) => (readAt ? showAgo(readAt, now) : isFirst ? 'Being read' : 'Not yet'),
      ],
      [
        isFirst ? 'Rows so far' : 'Rows in that read',
        ({ rows }) => formatCount(visit, rows),
        'number',
      ],
    ],
    { look: 'brief', caption: `What is read from ${title}, and how many rows were read last` },
  );
}

function refusedPart(
  visit: ShopVisit,
  { platform: { title }, refused }: Connected,
  now: number,
): Html | undefined {
  if (!refused) return undefined;
  const { count, at, reasons } = refused;
  return html`<p>
      <span class="dot risk"></span>${countOf(visit, count, 'record was', 'records were')} refused
      ${showAgo(at, now)}. If you cannot change that at ${title}, tell the operator of this service.
    </p>
    <ul class="log">
      ${reasons.map((each) => html`<li>${formatCount(visit, each.count)} × ${each.reason}</li>`)}
    </ul>`;
}

/** Who is authoritative for what, if any platform is. */
export function keepersPart(keepers: readonly Keeper[]): Html | undefined {
  if (keepers.length === 0) return undefined;
  return html`<p>
    ${keepers.map(
      ({ platform: { title }, account, types }) =>
        html`${capitalised(namesOf(types))} come from ${title} (${account}) only, and are refused
        from files and pushes. `,
    )}
    Everything else is taken from wherever it arrives.
  </p>`;
}
