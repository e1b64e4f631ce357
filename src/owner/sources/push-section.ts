import { tiers } from '../../access/tiers.ts';
import { overlapUntil } from '../../push/sources.ts';
import { type Html, html } from '../../http/html.ts';
import type { PushSourceListing } from '../../store/push/sources.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath, tierNames } from '../ui/layout.ts';
import { formatCount } from '../ui/locale.ts';
import { showAgo, showDay, showTime } from '../ui/times.ts';
import { isVendor, vendors } from './vendors.ts';

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
  const oldSecret = (source: PushSourceListing) => {
    const until = overlapUntil(source, now);
    return until && html`<span>Old secret works until ${showTime(visit, until)}</span>`;
  };
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
          ${oldSecret(source)}
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
