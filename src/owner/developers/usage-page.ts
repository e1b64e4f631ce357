import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { AnsweredRequests } from '../../store/keys/requests.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { countFormat } from '../ui/locale.ts';
import { developerPage } from './frame.ts';

export const usagePeriods = {
  '24h': { label: 'Last 24 hours', hours: 24 },
  '30d': { label: 'Last 30 days', hours: 30 * 24 },
} as const;
type UsagePeriod = keyof typeof usagePeriods;

export function isUsagePeriod(text: string | null): text is UsagePeriod {
  return text !== null && Object.hasOwn(usagePeriods, text);
}

interface UsagePage {
  readonly period: UsagePeriod;
  readonly keys: readonly KeyListing[];
  readonly requests: readonly (AnsweredRequests & { readonly keyId: string })[];
}

export function usagePage(visit: ShopVisit, { period, keys, requests }: UsagePage): Answer {
  const { shop } = visit;
  const links = Object.entries(usagePeriods).map(
    ([name, { label }]) =>
      html`<a
        href="${shopPath(shop, `/developers/usage?period=${name}`)}"
        ${name === period ? html`aria-current="true"` : undefined}
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

const withStatus = (counts: readonly AnsweredRequests[], status: number) =>
  sum(counts.filter((each) => each.status === status));

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
  const cells = (counts: readonly AnsweredRequests[]) =>
    html`<td class="number">${format(sum(counts))}</td>
      ${statuses.map((status) => html`<td class="number">${format(withStatus(counts, status))}</td>`)}`;
  const label = `${key.name} …${key.lastFour}`;
  return html`<section>
    <h2>${key.name} <code class="quiet">…${key.lastFour}</code></h2>
    <div class="scroll" role="region" aria-label="Usage of ${label}" tabindex="0">
      <table class="plain">
        <caption class="visually-hidden">
          Requests with ${label}
        </caption>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col" class="number">Total</th>
            ${statuses.map((status) => html`<th scope="col" class="number">${status}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${byOperation.map(
            ([operation, counts]) =>
              html`<tr>
                <th scope="row"><code>${operation}</code></th>
                ${cells(counts)}
              </tr>`,
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            ${cells(requests)}
          </tr>
        </tfoot>
      </table>
    </div>
  </section>`;
}
