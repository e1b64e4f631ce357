import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { type AnsweredRequests, listAnsweredRequests } from '../../store/keys/requests.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { countFormat, countOf } from '../ui/formats.ts';
import { operations } from '../../operations/index.ts';
import { developerPage, listKeyChoices, statusTexts } from './frame.ts';
import { shopPath } from '../site.ts';
import { plainTable } from '../ui/table.ts';
import { problemIn } from '../view/choices.ts';

const periods = {
  '24h': { label: 'Last 24 hours', hours: 24 },
  '30d': { label: 'Last 30 days', hours: 30 * 24 },
} as const;

type Period = keyof typeof periods;

const hourMilliseconds = 3_600_000;

/** How often each key was used. */
export const usagePages = (parts: OwnerParts): OwnerPage[] => [
  shopPage('/developers/usage', {
    right: 'integration',
    label: 'Usage',
    hint: 'Developers',
    section: '/developers',
    show: (visit) => usagePage(parts, visit),
  }),
];

async function usagePage(parts: OwnerParts, visit: ShopVisit): Promise<Answer> {
  const { shop, query } = visit;
  const names = Object.keys(periods) as Period[];
  const problem = problemIn(query, { period: ['a period', names] });
  const now = Math.floor(parts.clock.now() / hourMilliseconds);
  const read = (period: Period) =>
    listAnsweredRequests(parts.store.write, shop.id, now - periods[period].hours + 1);
  const asked = names.find((each) => each === query.get('period'));
  const [keys, found] = await Promise.all([listKeyChoices(parts, shop.id), read(asked ?? '24h')]);
  // Unless the last day was asked for, a longer period is shown where it has none.
  const period = asked ?? (found.length === 0 ? '30d' : '24h');
  const requests = !asked && period === '30d' ? await read(period) : found;
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
      with a key that has expired, was revoked, or is not allowed in the network that they came
      from. MCP reports what is wrong with the call of a tool inside an answer with status 200. New
      requests appear after about a minute.
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
    ${notAsked(requests)}
  `;
  return developerPage(visit, {
    title: 'Usage',
    tab: 'usage',
    content,
    problem,
    status: problem === undefined ? 200 : 400,
  });
}

/** One sentence about the operations without requests. */
function notAsked(requests: readonly AnsweredRequests[]): Html | undefined {
  const asked = new Set(requests.map(({ operation }) => operation));
  const others = operations.filter(({ tool }) => !asked.has(tool));
  if (requests.length === 0 || others.length === 0) return undefined;
  const names = others.map(({ tool }, at) => html`${at > 0 && ', '}<code>${tool}</code>`);
  return html`<p class="quiet">Not asked in this period: ${names}.</p>`;
}

const sum = (counts: readonly AnsweredRequests[]) =>
  counts.reduce((total, each) => total + each.requests, 0);

/** A table with a row for each operation, which names only the refusals that happened. */
function keySection(
  visit: ShopVisit,
  key: KeyListing,
  requests: readonly AnsweredRequests[],
): Html {
  const format = countFormat(visit);
  const byOperation = [...Map.groupBy(requests, ({ operation }) => operation)].toSorted(
    ([one], [other]) => (one < other ? -1 : 1),
  );
  const label = `${key.name} …${key.lastFour}`;
  const succeeded = (counts: readonly AnsweredRequests[]) =>
    format(sum(counts.filter(({ status }) => status < 400)));
  const refused = (counts: readonly AnsweredRequests[]) => {
    const byStatus = [...Map.groupBy(counts, ({ status }) => status)].filter(
      ([each]) => each >= 400,
    );
    const links = byStatus
      .toSorted(([one], [other]) => one - other)
      .map(([status, each]) => {
        const address = shopPath(visit.shop, `/developers/requests?status=${status}&key=${key.id}`);
        const name = `${status} ${statusTexts[status] ?? ''}`;
        return html`<li>${format(sum(each))} × <a href="${address}">${name}</a></li>`;
      });
    return links.length === 0
      ? html`<span class="quiet">None</span>`
      : html`<ul>
          ${links}
        </ul>`;
  };
  return html`<section>
    <h2>${key.name} <code class="quiet">…${key.lastFour}</code></h2>
    <p>${countOf(visit, sum(requests), 'request', 'requests')}, ${succeeded(requests)} succeeded</p>
    <div class="scroll" role="region" aria-label="Usage of ${label}" tabindex="0">
      ${plainTable(
        byOperation,
        [
          ['Operation', ([operation]) => html`<code>${operation}</code>`, 'head'],
          ['Requests', ([, counts]) => format(sum(counts)), 'number'],
          ['Succeeded', ([, counts]) => succeeded(counts), 'number'],
          ['Refused', ([, counts]) => refused(counts)],
        ],
        { caption: `Requests with ${label}` },
      )}
    </div>
  </section>`;
}
