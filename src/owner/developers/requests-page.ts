import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import {
  keptRequests,
  type LoggedRequest,
  type LogPosition,
} from '../../store/keys/request-log.ts';
import type { ShopVisit } from '../pages.ts';
import { state } from '../ui/labels.ts';
import { alert, shopPath } from '../ui/layout.ts';
import { type Column, listing, parameter } from '../ui/listing.ts';
import { formatCount, formatMilliseconds } from '../ui/locale.ts';
import { showSecond } from '../ui/times.ts';
import { developerPage } from './frame.ts';
import { statusState, statusTexts } from './statuses.ts';

const path = '/developers/requests';

const statusOptions = Object.fromEntries(
  [200, 400, 401, 403, 404, 429, 500].map((status): [string, readonly [string]] => [
    String(status),
    [`${status} ${statusTexts[status]}`],
  ]),
);

const transportLabels: Readonly<Record<LoggedRequest['transport'], string>> = {
  rest: 'REST',
  mcp: 'MCP',
  page: 'Console',
};

/** The position as it stands in the page's address. */
export function positionText({ at, requestId }: LogPosition): string {
  return `${at.getTime()}.${requestId}`;
}

/** @returns undefined if the text is not a position */
export function parsePosition(text: string): LogPosition | undefined {
  const [, at, requestId = ''] =
    /^(\d{1,14})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(text) ?? [];
  return at === undefined ? undefined : { at: new Date(Number(at)), requestId };
}

interface RequestsPage {
  readonly keys: readonly KeyListing[];
  readonly requests: readonly LoggedRequest[];
  readonly nextCursor: string | null;
}

export function requestsPage(visit: ShopVisit, parts: RequestsPage): Answer {
  const { shop } = visit;
  const { keys, requests, nextCursor } = parts;
  const dropped = requests.reduce((sum, each) => sum + each.dropped, 0);
  const query = { status: parameter(visit, 'status'), key: parameter(visit, 'key') };
  const content = html`
    <p class="quiet">
      The last ${formatCount(visit, keptRequests)} requests with this shop’s keys, without what they
      asked for or were answered. Requests to other instances of the service appear after ten
      seconds.
    </p>
    ${
      dropped === 0
        ? undefined
        : html`<p class="missing">
            ${formatCount(visit, dropped)} requests among these, or just before them, are not
            listed, because they came faster than they are recorded.
          </p>`
    }
    ${listing({
      caption: 'Requests, newest first',
      noun: 'requests',
      path: shopPath(shop, path),
      query,
      filter: { name: 'status', label: 'Status', options: statusOptions },
      columns: columnsFor(visit, keys),
      rows: requests,
      cursor: parameter(visit, 'cursor'),
      nextCursor,
      csv: shopPath(shop, `${path}.csv`),
      lookups: keyFilter(visit, keys),
      emptyState: html`<h2>No requests yet</h2>
        <p>
          Requests with this shop’s keys appear here: when, with which key, and how they were
          answered. <a href="${shopPath(shop, '/developers')}">Make one</a>
        </p>`,
    })}
  `;
  return developerPage(visit, { title: 'Requests', tab: 'requests', content });
}

/** For a filter or a position that cannot be used. */
export function invalidRequestsPage(visit: ShopVisit, problem: string): Answer {
  const content = html`${alert(problem)}
    <p><a href="${shopPath(visit.shop, path)}">See all requests, from the latest</a></p>`;
  return developerPage(visit, { title: 'Requests', tab: 'requests', content, status: 400 });
}

function keyFilter(visit: ShopVisit, keys: readonly KeyListing[]): Html {
  const selected = parameter(visit, 'key');
  const status = parameter(visit, 'status');
  return html`<form class="lookups" method="get" action="${shopPath(visit.shop, path)}">
    ${status === undefined ? undefined : html`<input type="hidden" name="status" value="${status}" />`}
    <div class="lookup">
      <label for="key">Key</label>
      <select id="key" name="key">
        <option value="">All keys</option>
        ${keys.map(
          ({ id, name, lastFour }) =>
            html`<option value="${id}" ${id === selected ? html`selected` : undefined}>
              ${name} …${lastFour}
            </option>`,
        )}
      </select>
      <button class="plain">Show</button>
    </div>
  </form>`;
}

function columnsFor(
  visit: ShopVisit,
  keys: readonly KeyListing[],
): readonly Column<LoggedRequest>[] {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return [
    {
      label: 'Operation',
      kind: 'head',
      cell: ({ operation }) => html`<code>${operation}</code>`,
    },
    { label: 'Status', kind: 'state', cell: ({ status }) => state(statusState(status)) },
    { label: 'Time', cell: ({ at }) => showSecond(visit, at) },
    { label: 'Key', kind: 'minor', cell: ({ keyId }) => names.get(keyId) ?? keyId },
    { label: 'Via', kind: 'minor', cell: ({ transport }) => transportLabels[transport] },
    {
      label: 'Duration',
      kind: 'number',
      cell: ({ microseconds }) => formatMilliseconds(visit, microseconds / 1000),
    },
    {
      label: 'Request ID',
      kind: 'minor',
      cell: ({ requestId }) => html`<code class="quiet">${requestId}</code>`,
    },
  ];
}
