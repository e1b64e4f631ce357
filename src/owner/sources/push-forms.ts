import { overlapUntil, pushSources } from '../../push/sources.ts';
import { schemes } from '../../push/signature.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { PushSourceListing } from '../../store/push/sources.ts';
import type { ShopVisit } from '../pages.ts';
import { page } from '../ui/answers.ts';
import { codeBlock } from '../ui/code-block.ts';
import { alert, layout, notice, shopPath, token } from '../ui/layout.ts';
import { nameField } from '../ui/name-field.ts';
import { overlapChoices } from '../ui/overlap.ts';
import { showTime } from '../ui/times.ts';
import { type Vendor, type VendorName, isVendor, vendors } from './vendors.ts';

export const standard = 'standard';
/** What may send, with our word for it. */
const kinds: readonly (readonly [string, string])[] = [
  [standard, 'My own program (Standard Webhooks)'],
  ...Object.entries(vendors).map(
    ([name, { title, brings }]) => [name, `${title}: ${brings}`] as const,
  ),
];

interface PushForm {
  readonly name?: string;
  readonly sourceId?: string;
  readonly kind?: string;
  readonly problem?: string | undefined;
}

export function newPushPage(visit: ShopVisit, filled: PushForm = {}): Answer {
  const { name = '', sourceId = pushSources.newId(), kind = standard, problem } = filled;
  const sources = shopPath(visit.shop, '/sources');
  const form = html`<form class="card" method="post" action="${sources}/push">
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
  return pushSubpage(visit, 'Create push source', form, problem);
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
  const title = remark === undefined ? 'Push source created' : 'Secret rotated';
  return pushSubpage(visit, title, content, undefined, 201);
}

interface VendorSource {
  readonly scheme: VendorName;
  readonly sourceId: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** The second step: the address for the vendor, which then shows its secret. */
export function newVendorPage(visit: ShopVisit, source: VendorSource, problem?: string): Answer {
  const { scheme, sourceId, name } = source;
  const { title, steps } = vendors[scheme];
  const sources = shopPath(visit.shop, '/sources');
  const content = html`<section class="card">
      <h2>Give ${title} this address</h2>
      ${addressPart(source)}
      <ol>
        ${steps.map((step) => html`<li>${step}</li>`)}
      </ol>
    </section>
    <form class="card" method="post" action="${sources}/push">
      ${token(visit)}
      <input type="hidden" name="id" value="${sourceId}" />
      <input type="hidden" name="name" value="${name}" />
      <input type="hidden" name="kind" value="${scheme}" />
      ${secretField(vendors[scheme], problem)}
      <p class="actions">
        <button name="step" value="secret">Create push source</button>
        <a href="${sources}">Cancel</a>
      </p>
    </form>`;
  return pushSubpage(visit, `Connect ${title}`, content, problem);
}

function addressPart({ scheme, sourceId, baseUrl }: VendorSource): Html {
  const address = `${baseUrl}/ingest/v1/${sourceId}/mapped/${schemes[scheme].mapping}`;
  return codeBlock('address', 'Address', address);
}

function secretField({ title, secretLabel }: Vendor, problem: string | undefined): Html {
  return html`<p class="field">
    <label for="secret">${secretLabel}</label>
    <input
      id="secret"
      name="secret"
      type="password"
      autocomplete="off"
      spellcheck="false"
      required
      ${problem === undefined ? undefined : html`aria-invalid="true"`}
      aria-describedby="secret-hint"
    />
    <span class="hint" id="secret-hint"
      >It proves that messages are from ${title}. It is not shown again here.</span
    >
  </p>`;
}

/** The address of a source, and what to do at the vendor. */
export function vendorSetupPage(visit: ShopVisit, source: VendorSource, remark?: string): Answer {
  const { title, steps, brings } = vendors[source.scheme];
  const content = html`${notice(remark)}
    <section class="card">
      <h2>${source.name} <code class="quiet">${source.sourceId}</code></h2>
      <p>${title} sends ${brings} to this address:</p>
      ${addressPart(source)}
      <ol>
        ${steps.slice(0, -1).map((step) => html`<li>${step}</li>`)}
      </ol>
      <p class="actions">
        <a class="button" href="${shopPath(visit.shop, '/sources')}">Done</a>
      </p>
    </section>`;
  const status = remark === undefined ? 200 : 201;
  return pushSubpage(visit, `Set up ${title}`, content, undefined, status);
}

/** @param problem what is wrong with the secret that the vendor is said to sign with */
export function rotatePushPage(
  visit: ShopVisit,
  source: PushSourceListing,
  now: number,
  problem?: string,
): Answer {
  const { sourceId, name, scheme } = source;
  const vendor = isVendor(scheme) ? vendors[scheme] : undefined;
  const title = vendor ? 'Replace secret' : 'Rotate secret';
  const step = vendor
    ? `Make a new secret at ${vendor.title}, and paste it here.`
    : 'A new secret replaces the old one.';
  const sources = shopPath(visit.shop, '/sources');
  const form = html`<form class="card" method="post" action="${sources}/push/${sourceId}/rotate">
    ${token(visit)}
    <h2>${name} <code class="quiet">${sourceId}</code></h2>
    <p>${step} Both work until the old one expires.</p>
    ${overlapWarning(visit, source, now)} ${vendor && secretField(vendor, problem)}
    ${overlapChoices('The old secret expires')}
    <p class="actions">
      <button>${title}</button>
      <a href="${sources}">Keep secret</a>
    </p>
  </form>`;
  return pushSubpage(visit, title, form, problem);
}

/** What another rotation would end. */
function overlapWarning(visit: ShopVisit, source: PushSourceListing, now: number) {
  const until = overlapUntil(source, now);
  return (
    until &&
    html`<p>
      The secret before the current one still works until ${showTime(visit, until)}.
      <strong>It ends as soon as you continue.</strong>
    </p>`
  );
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

/** @param problem of the form, which is shown above it */
function pushSubpage(
  visit: ShopVisit,
  title: string,
  content: Html,
  problem?: string,
  status = problem === undefined ? 200 : 422,
): Answer {
  return page(layout(visit, { title, content: html`${alert(problem)} ${content}` }), status);
}
