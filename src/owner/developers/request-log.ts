import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { html } from '../../http/html.ts';
import { type KeyListing, listKeys } from '../../store/keys/keys.ts';
import {
  type LogOrder,
  type LoggedRequest,
  keptRequests,
  listLoggedRequests,
} from '../../store/keys/requests.ts';
import { type ListVisit, timeOrders } from '../framework/list.ts';
import { positionSchema } from '../framework/cursor.ts';
import { formatCount, formatMilliseconds, showSecond } from '../ui/formats.ts';
import { developerPage, listKeyChoices, statusState, statusTexts } from './frame.ts';
import { shopPath } from '../site.ts';
import { defineList } from '../framework/define-list.ts';

const requestFilters = {
  status: z
    .string()
    .regex(/^[1-5]\d\d$/, {
      error: ({ input }) => `“${input}” is not the status of a response. Write one as in 429.`,
    })
    .transform(Number)
    .optional(),
  key: z
    .string()
    .regex(/^\w+$/, { error: ({ input }) => `“${input}” is not the id of a key. Choose a key.` })
    .optional(),
};

type Visit = ListVisit<typeof requestFilters, LogOrder>;

interface Row extends LoggedRequest {
  /** Its id, if it is no longer listed. */
  readonly keyName: string;
}

const statusLinks = Object.fromEntries(
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

/** The last requests with the keys of a shop. */
export const requestLog = defineList<Row, readonly KeyListing[]>()({
  path: '/developers/requests',
  right: 'integration',
  title: 'Requests',
  label: 'Requests',
  hint: 'Developers',
  section: '/developers',
  noun: 'requests',
  caption: 'Requests',
  pickers: [],
  filters: requestFilters,
  links: { name: 'status', label: 'Status', options: statusLinks },
  selects: [
    {
      name: 'key',
      label: 'Key',
      none: 'All keys',
      options: (keys) => keys.map(({ id, name, lastFour }) => [id, `${name} …${lastFour}`]),
    },
  ],
  // All of them are read for each page, in any order.
  orders: {
    ...timeOrders,
    slowest: 'Slowest first',
    fastest: 'Fastest first',
  },
  rowsPerRead: keptRequests,
  place: positionSchema
    .pick({ createdAt: true })
    .extend({ requestId: z.guid(), microseconds: z.int().min(0) }),
  placeOf: ({ at, requestId, microseconds }) => ({
    createdAt: at.getTime(),
    requestId,
    microseconds,
  }),
  async read({ parts, shop, filters }: Visit, { order, after, limit }) {
    const { store, calls } = parts;
    await calls.storeRequests(shop.id);
    const [requests, keys] = await Promise.all([
      listLoggedRequests(store.write, shop.id, {
        status: filters.status,
        keyId: filters.key,
        order,
        after: after && { ...after, at: new Date(after.createdAt) },
        limit,
      }),
      listKeys(store.write, shop.id),
    ]);
    const names = new Map(keys.map(({ id, name }) => [id, name]));
    return requests.map((each) => ({ ...each, keyName: names.get(each.keyId) ?? each.keyId }));
  },
  summarise: ({ parts, shop }) => listKeyChoices(parts, shop.id),
  head(visit, _, rows) {
    const dropped = rows.reduce((sum, each) => sum + each.dropped, 0);
    return html`
      <p class="quiet">
        The last ${formatCount(visit, keptRequests)} requests with this shop’s keys, without what
        they asked for or were answered. 401 is a key that has expired, was revoked, or is not
        allowed in the network that the request came from. Requests to other instances of the
        service appear after ten seconds.
      </p>
      ${
        dropped !== 0 &&
        html`<p class="missing">
          ${formatCount(visit, dropped)} requests among these, or just before them, are not listed,
          because they came faster than they are recorded.
        </p>`
      }
    `;
  },
  columns: [
    {
      label: 'Operation',
      kind: 'head',
      cell: ({ operation }) => html`<code>${operation}</code>`,
      file: { Operation: ({ operation }) => operation },
    },
    column.state('Status', ({ status }) => statusState(status)),
    column.time('Time', ({ at }) => at.getTime(), {
      kind: undefined,
      cell: ({ at }, visit) => showSecond(visit, at),
      sort: ['oldest', 'newest'],
    }),
    column.text('Key', ({ keyName }) => keyName, { kind: 'minor' }),
    column.text('Via', ({ transport }) => transport, {
      kind: 'minor',
      cell: ({ transport }) => transportLabels[transport],
    }),
    {
      label: 'Duration',
      kind: 'number',
      cell: ({ microseconds }, visit) => formatMilliseconds(visit, microseconds / 1000),
      file: { Milliseconds: ({ microseconds }) => microseconds / 1000 },
      sort: ['fastest', 'slowest'],
    },
    column.text('Request ID', ({ requestId }) => requestId, {
      kind: 'minor',
      cell: ({ requestId }) => html`<code class="quiet">${requestId}</code>`,
    }),
    { label: 'Missing before', file: { 'Missing before': ({ dropped }) => dropped } },
  ],
  empty: ({ shop }) => ({
    title: 'No requests yet',
    text: html`Requests with this shop’s keys appear here: when, with which key, and how they were
      answered. <a href="${shopPath(shop, '/developers')}">Make one</a>`,
  }),
  frame: (visit, page) => developerPage(visit, { ...page, tab: 'requests' }),
});
