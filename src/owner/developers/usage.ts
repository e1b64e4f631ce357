import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { type AnsweredRequests, listAnsweredRequests } from '../../store/keys/requests.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { countFormat } from '../ui/formats.ts';
import { developerPage, listKeyChoices } from './frame.ts';
import { shopPath } from '../site.ts';
import { type TableColumn, plainTable } from '../ui/table.ts';

const periods = {
  '24h': { label: 'Last 24 hours', hours: 24 },
  '30d': { label: 'Last 30 days', hours: 30 * 24 },
} as const;

type Period = keyof typeof periods;

const isPeriod = (text: string | null): text is Period =>
  text !== null && Object.hasOwn(periods, text);

const hourMilliseconds = 3_600_000;

/** How often each key was used. */
export const usagePages = (parts: OwnerParts): OwnerPage[] => [
  shopPage('/developers/usage', {
    label: 'Usage',
    hint: 'Developers',
    section: '/developers',
    async show(visit) {
      const text = visit.query.get('period');
      const period = isPeriod(text) ? text : '24h';
      const now = Math.floor(parts.clock.now() / hourMilliseconds);
      const [keys, requests] = await Promise.all([
        listKeyChoices(parts, visit.shop.id),
        listAnsweredRequests(parts.store.write, visit.shop.id, now - periods[period].hours + 1),
      ]);
      return usagePage(visit, period, keys, requests);
    },
  }),
];

function usagePage(
  visit: ShopVisit,
  period: Period,
  keys: readonly KeyListing[],
  requests: Awaited<ReturnType<typeof listAnsweredRequests>>,
): Answer {
  const { shop } = visit;
  const links = Object.entries(periods).map(
    ([name, { label }]) =>
      html`<a
        href="${shopPath(shop, `/developers/usage?period=${name}`)}"
        ${name === period && html`aria-current="true"`}
        >${label}</a
      >`,
  );
  const byKey = Map.groupBy(requests, ({ keyId }) => keyId);
  const used = keys.filter(({ id }) => byKey.has(id));
  const content = html`
    <div class="filters" role="group" aria-label="Period">${links}</div>
    <p class="quiet">
      Requests by operation and by the status of the answer, in whole hours (UTC). 401 are requests
      with a key that has expired or was revoked. MCP reports what is wrong with the call of a tool
      inside an answer with status 200. New requests appear after about a minute.
    </p>
    ${
      used.length === 0
        ? html`<div class="card">
            <h2>No requests</h2>
            <p>
              Requests with this shop’s keys appear here.
              <a href="${shopPath(shop, '/developers')}">Make one</a>
            </p>
          </div>`
        : used.map((key) => keySection(visit, key, byKey.get(key.id) ?? []))
    }
  `;
  return developerPage(visit, { title: 'Usage', tab: 'usage', content });
}

const sum = (counts: readonly AnsweredRequests[]) =>
  counts.reduce((total, each) => total + each.requests, 0);

/** A table with a row for each operation and a column for each status. */
function keySection(
  visit: ShopVisit,
  key: KeyListing,
  requests: readonly AnsweredRequests[],
): Html {
  const format = countFormat(visit);
  const statuses = [...new Set(requests.map(({ status }) => status))].toSorted((a, b) => a - b);
  const byOperation = [...Map.groupBy(requests, ({ operation }) => operation)].toSorted(
    ([one], [other]) => (one < other ? -1 : 1),
  );
  const label = `${key.name} …${key.lastFour}`;
  return html`<section>
    <h2>${key.name} <code class="quiet">…${key.lastFour}</code></h2>
    <div class="scroll" role="region" aria-label="Usage of ${label}" tabindex="0">
      ${plainTable(
        byOperation,
        [
          ['Operation', ([operation]) => html`<code>${operation}</code>`, 'head', 'All'],
          ['Total', ([, counts]) => format(sum(counts)), 'number', format(sum(requests))],
          ...statuses.map((status): TableColumn<(typeof byOperation)[number]> => {
            const shown = (counts: readonly AnsweredRequests[]) =>
              format(sum(counts.filter((each) => each.status === status)));
            return [status, ([, counts]) => shown(counts), 'number', shown(requests)];
          }),
        ],
        { look: 'plain', caption: `Requests with ${label}` },
      )}
    </div>
  </section>`;
}
