import { tiers } from '../../access/tiers.ts';
import { newSourceId, overlapUntil } from '../../door/sources.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { PushSourceListing } from '../../store/door/sources.ts';
import { overlapChoices } from '../keys/forms.ts';
import { codeBlock } from '../ui/code-block.ts';
import type { ShopVisit } from '../pages.ts';
import { page } from '../ui/answers.ts';
import { formatCount } from '../ui/locale.ts';
import { alert, layout, notice, shopPath, tierNames, token } from '../ui/layout.ts';
import { nameField } from '../ui/name-field.ts';
import { showAgo, showDay, showTime } from '../ui/times.ts';
import { isVendor, vendors } from './vendors.ts';

export const standard = 'standard';
/** What may send, with our word for it. */
const kinds: readonly (readonly [string, string])[] = [
  [standard, 'My own program (Standard Webhooks)'],
  ...Object.entries(vendors).map(
    ([name, { title, brings }]) => [name, `${title}: ${brings}`] as const,
  ),
];

/** The sources that may push records, and how to get one. */
export function pushSection(
  visit: ShopVisit,
  sources: readonly PushSourceListing[],
  now: number,
): Html {
  const { shop } = visit;
  const { hasApiAccess } = tiers[shop.tier];
  return html`<section class="card source" id="push" aria-labelledby="push-title">
    <h2 id="push-title">Sent as it happens</h2>
    <p>
      Stripe, Paddle, Churnkey, Chargebee Retention or your own programs can send changes as they
      happen, signed with a secret.
    </p>
    ${sources.length === 0 ? undefined : sourceTable(visit, sources, now)}
    ${sources.flatMap((source) => refusedPart(visit, source, now) ?? [])}
    ${
      !hasApiAccess
        ? html`<p class="quiet">
            Available from the Growth tier. ${shop.name} is on the ${tierNames[shop.tier]} tier, so
            what is sent is refused.
          </p>`
        : html`<p class="actions">
            <a class="button" href="${shopPath(shop, '/sources/push/new')}">Create push source</a>
          </p>`
    }
  </section>`;
}

function sourceTable(visit: ShopVisit, sources: readonly PushSourceListing[], now: number): Html {
  const path = shopPath(visit.shop, '/sources/push');
  const link = ({ sourceId, name }: PushSourceListing, action: string, label: string) =>
    html`<a href="${path}/${sourceId}/${action}"
      >${label}<span class="visually-hidden"> ${name}</span></a
    > `;
  const rows = sources.map(
    (source) =>
      html`<tr>
        <th scope="row">${source.name} <code class="quiet">${source.sourceId}</code></th>
        <td data-label="From">
          ${isVendor(source.scheme) ? vendors[source.scheme].title : 'Own program'}
        </td>
        <td data-label="Created">${showDay(visit, source.createdAt)}</td>
        <td data-label="Last request">
          ${source.lastBatchAt ? showAgo(source.lastBatchAt, now) : 'None yet'}
        </td>
        <td class="state">
          ${
            source.previousUntil && source.previousUntil.getTime() > now
              ? html`<span>Old secret works until ${showTime(visit, source.previousUntil)}</span>`
              : undefined
          }
          ${isVendor(source.scheme) ? link(source, 'setup', 'Set up') : undefined}
          ${link(source, 'rotate', 'Rotate')} ${link(source, 'revoke', 'Revoke')}
        </td>
      </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Source</th>
        <th scope="col">From</th>
        <th scope="col">Created</th>
        <th scope="col">Last request</th>
        <th scope="col"><span class="visually-hidden">Status</span></th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** What was refused lately, after the sender was told that it had arrived. */
function refusedPart(visit: ShopVisit, source: PushSourceListing, now: number): Html | undefined {
  const { name, scheme, refusedRecords: count, lastRefusedAt, lastRefusedReason } = source;
  if (lastRefusedAt === null) return undefined;
  return html`<p>
    <span class="dot attention"></span><strong>${name}</strong>: ${formatCount(visit, count)}
    ${count === 1 ? 'record was' : 'records were'} refused in the last 30 days. The last came
    ${showAgo(lastRefusedAt, now)}: “${lastRefusedReason ?? ''}”.
    ${
      isVendor(scheme)
        ? `If you cannot change that at ${vendors[scheme].title}, tell the operator of this service.`
        : 'Correct what sends them, and send them again.'
    }
  </p>`;
}

interface PushForm {
  readonly name?: string;
  readonly sourceId?: string;
  readonly kind?: string;
  readonly problem?: string | undefined;
}

export function newPushPage(visit: ShopVisit, filled: PushForm = {}): Answer {
  const { name = '', sourceId = newSourceId(), kind = standard, problem } = filled;
  const sources = shopPath(visit.shop, '/sources');
  const form = html`${alert(problem)}
    <form class="card" method="post" action="${sources}/push">
      ${token(visit)}
      <input type="hidden" name="id" value="${sourceId}" />
      <p class="field">
        <label for="kind">What sends</label>
        <select id="kind" name="kind">
          ${kinds.map(
            ([value, label]) =>
              html`<option value="${value}" ${value === kind ? html`selected` : undefined}>
                ${label}
              </option>`,
          )}
        </select>
      </p>
      ${nameField(
        name,
        'To recognise it later, such as “Billing” or “Cancel flow”.',
        problem !== undefined,
      )}
      <p class="actions">
        <button>Continue</button>
        <a href="${sources}">Cancel</a>
      </p>
    </form>`;
  return pushSubpage(visit, 'Create push source', form, problem === undefined ? 200 : 422);
}

interface CreatedSecret {
  readonly sourceId: string;
  readonly secret: string;
  readonly baseUrl: string;
  /** Shown above the secret. */
  readonly remark?: string;
}

/** The only page that shows a secret: the direct answer to the form. */
export function createdPushPage(visit: ShopVisit, created: CreatedSecret): Answer {
  const { sourceId, secret, baseUrl, remark } = created;
  const content = html`
    ${notice(remark)}
    <section class="card">
      <h2>Signing secret</h2>
      <p>Copy it now. It is not shown again.</p>
      ${codeBlock('secret', 'Signing secret', secret)}
    </section>
    <section class="card">
      <h2>Address</h2>
      <p>
        Send records here as NDJSON or a JSON array, signed by the scheme of
        <a href="https://www.standardwebhooks.com">Standard Webhooks</a>.
      </p>
      ${codeBlock('address', 'Address', `${baseUrl}/ingest/v1/${sourceId}/records`)}
    </section>
    <form class="card" method="get" action="${shopPath(visit.shop, '/sources')}">
      <label class="choice">
        <input type="checkbox" required /> <span>I have copied the secret</span>
      </label>
      <button>Done</button>
    </form>
  `;
  return pushSubpage(
    visit,
    remark === undefined ? 'Push source created' : 'Secret rotated',
    content,
    201,
  );
}

/** What another rotation would end. */
export function overlapWarning(
  visit: ShopVisit,
  source: PushSourceListing,
  now: number,
): Html | undefined {
  const until = overlapUntil(source, now);
  return (
    until &&
    html`<p>
      The secret before the current one still works until ${showTime(visit, until)}.
      <strong>It ends as soon as you continue.</strong>
    </p>`
  );
}

export function rotatePushPage(visit: ShopVisit, source: PushSourceListing, now: number): Answer {
  const sources = shopPath(visit.shop, '/sources');
  const form = html`<form
    class="card"
    method="post"
    action="${sources}/push/${source.sourceId}/rotate"
  >
    ${token(visit)}
    <h2>${source.name} <code class="quiet">${source.sourceId}</code></h2>
    <p>A new secret replaces the old one. Both work until the old one expires.</p>
    ${overlapWarning(visit, source, now)} ${overlapChoices('The old secret expires')}
    <p class="actions">
      <button>Rotate secret</button>
      <a href="${sources}">Keep secret</a>
    </p>
  </form>`;
  return pushSubpage(visit, 'Rotate secret', form);
}

export function revokePushPage(visit: ShopVisit, source: PushSourceListing): Answer {
  const sources = shopPath(visit.shop, '/sources');
  const form = html`<form
    class="card"
    method="post"
    action="${sources}/push/${source.sourceId}/revoke"
  >
    ${token(visit)}
    <h2>${source.name} <code class="quiet">${source.sourceId}</code></h2>
    <p>Requests of this source fail from now on. What it has sent stays. This cannot be undone.</p>
    <p class="actions">
      <button class="danger">Revoke push source</button>
      <a href="${sources}">Keep push source</a>
    </p>
  </form>`;
  return pushSubpage(visit, 'Revoke push source?', form);
}

export function pushSubpage(visit: ShopVisit, title: string, content: Html, status = 200): Answer {
  return page(layout(visit, { title, content }), status);
}
