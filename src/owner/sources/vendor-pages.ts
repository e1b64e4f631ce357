import { schemes } from '../../door/schemes.ts';
import { type Html, html } from '../../http/html.ts';
import type { Answer } from '../../http/answer.ts';
import type { PushSourceListing } from '../../store/door/sources.ts';
import { overlapChoices } from '../keys/forms.ts';
import type { ShopVisit } from '../pages.ts';
import { alert, notice, shopPath, token } from '../ui/layout.ts';
import { codeBlock } from '../ui/code-block.ts';
import { overlapWarning, pushSubpage } from './push-pages.ts';
import { type VendorName, vendors } from './vendors.ts';

interface VendorSource {
  readonly scheme: VendorName;
  readonly sourceId: string;
  readonly baseUrl: string;
}

interface VendorForm extends VendorSource {
  readonly name: string;
  readonly problem?: string | undefined;
}

/** The second step: the address for the vendor, which then shows its secret. */
export function newVendorPage(visit: ShopVisit, form: VendorForm): Answer {
  const { scheme, sourceId, name, problem } = form;
  const { title, steps } = vendors[scheme];
  const sources = shopPath(visit.shop, '/sources');
  const content = html`${alert(problem)}
    <section class="card">
      <h2>Give ${title} this address</h2>
      ${addressPart(form)}
      <ol>
        ${steps.map((step) => html`<li>${step}</li>`)}
      </ol>
    </section>
    <form class="card" method="post" action="${sources}/push">
      ${token(visit)}
      <input type="hidden" name="id" value="${sourceId}" />
      <input type="hidden" name="name" value="${name}" />
      <input type="hidden" name="kind" value="${scheme}" />
      ${secretField(scheme, problem !== undefined)}
      <p class="actions">
        <button name="step" value="secret">Create push source</button>
        <a href="${sources}">Cancel</a>
      </p>
    </form>`;
  return pushSubpage(visit, `Connect ${title}`, content, problem === undefined ? 200 : 422);
}

function addressPart({ scheme, sourceId, baseUrl }: VendorSource): Html {
  const address = `${baseUrl}/ingest/v1/${sourceId}/mapped/${schemes[scheme].mapping}`;
  return codeBlock('address', 'Address', address);
}

function secretField(scheme: VendorName, isWrong: boolean): Html {
  return html`<p class="field">
    <label for="secret">${vendors[scheme].secretLabel}</label>
    <input
      id="secret"
      name="secret"
      type="password"
      autocomplete="off"
      spellcheck="false"
      required
      ${isWrong ? html`aria-invalid="true"` : undefined}
      aria-describedby="secret-hint"
    />
    <span class="hint" id="secret-hint"
      >It proves that messages are from ${vendors[scheme].title}. It is not shown again here.</span
    >
  </p>`;
}

/** The address of a source, and what to do at the vendor. */
export function vendorSetupPage(
  visit: ShopVisit,
  { remark, ...source }: VendorSource & { readonly name: string; readonly remark?: string },
): Answer {
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
  return pushSubpage(visit, `Set up ${title}`, content, remark === undefined ? 200 : 201);
}

export function rotateVendorPage(
  visit: ShopVisit,
  source: PushSourceListing & { readonly scheme: VendorName },
  now: number,
  problem?: string,
): Answer {
  const sources = shopPath(visit.shop, '/sources');
  const { title } = vendors[source.scheme];
  const form = html`${alert(problem)}
    <form class="card" method="post" action="${sources}/push/${source.sourceId}/rotate">
      ${token(visit)}
      <h2>${source.name} <code class="quiet">${source.sourceId}</code></h2>
      <p>Make a new secret at ${title}, and paste it here. Both work until the old one expires.</p>
      ${overlapWarning(visit, source, now)} ${secretField(source.scheme, problem !== undefined)}
      ${overlapChoices('The old secret expires')}
      <p class="actions">
        <button>Replace secret</button>
        <a href="${sources}">Keep secret</a>
      </p>
    </form>`;
  return pushSubpage(visit, 'Replace secret', form, problem === undefined ? 200 : 422);
}
