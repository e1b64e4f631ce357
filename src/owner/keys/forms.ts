import { apiKeys } from '../../access/keys/keys.ts';
import { tiers } from '../../access/tiers.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import { agentTabs, snippetTabs } from '../developers/snippets.ts';
import { fieldPrefix } from '../developers/console.ts';
import { firstOperation, requestUrl, type Texts, textsFor } from '../developers/requests.ts';
import { page } from '../ui/page.ts';
import { codeBlock, alert, notice, problemId } from '../ui/elements.ts';
import type { ShopVisit } from '../pages.ts';
import { locked, scopeSentences } from './list.ts';
import { nameField, overlapChoices, token } from '../ui/fields.ts';
import { showTime } from '../ui/formats.ts';
import { type Scope, scopes as allScopes } from '../../vocabulary.ts';
import { shopPath } from '../site.ts';

/** The selectable lifetimes of a key, in days. */
export const expiryDays = [7, 30, 90, 365] as const;

/** In days; undefined for never. */
export type Expiry = (typeof expiryDays)[number] | undefined;

function expiryField(chosen: Expiry, isWrong = false): Html {
  const option = (days: number) =>
    html`<option value="${days}" ${days === chosen ? html`selected` : undefined}>
      After ${days} days
    </option>`;
  return html`<p class="field">
    <label for="expiry">Expires</label>
    <select
      id="expiry"
      name="expiry"
      ${isWrong ? html`aria-invalid="true" aria-describedby="${problemId}" autofocus` : undefined}
    >
      <option value="">Never</option>
      ${expiryDays.map(option)}
    </select>
  </p>`;
}

/** The lifetime that a key was created with, or the closest one that can be chosen. */
function expiryOf({ createdAt, expiresAt }: KeyListing): Expiry {
  if (!expiresAt) return undefined;
  const days = (expiresAt.getTime() - createdAt.getTime()) / 86_400_000;
  return expiryDays.toSorted((one, other) => Math.abs(one - days) - Math.abs(other - days))[0];
}

/** A page with a form that creates a key, or the reason why the tier does not allow one. */
function keyForm(visit: ShopVisit, title: string, form: Html, problem?: string): Answer {
  const { shop } = visit;
  const { hasApiAccess } = tiers[shop.tier];
  const content = hasApiAccess ? html`${alert(problem)} ${form}` : locked(visit);
  const status = problem === undefined ? 200 : 422;
  return page(visit, { title, content, status: hasApiAccess ? status : 403 });
}

export function rotateKeyPage(
  visit: ShopVisit,
  key: KeyListing,
  filled: { readonly expiry: Expiry; readonly problem?: string | undefined } = {
    expiry: expiryOf(key),
  },
): Answer {
  const { expiry, problem } = filled;
  const { shop } = visit;
  const form = html`<form
    class="card"
    method="post"
    action="${shopPath(shop, `/keys/${key.id}/rotate`)}"
  >
    ${token(visit)}
    <input type="hidden" name="id" value="${apiKeys.newId()}" />
    <h2>${key.name} <code class="quiet">…${key.lastFour}</code></h2>
    <p>A new key with the same name and scopes replaces it. Both work until the old key expires.</p>
    ${overlapChoices('The old key expires')} ${expiryField(expiry)}
    <button>Rotate key</button>
    <a href="${shopPath(shop, '/keys')}">Keep key</a>
  </form>`;
  return keyForm(visit, 'Rotate key', form, problem);
}

interface KeyForm {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly id?: string;
  readonly expiry?: Expiry;
  readonly problem?: KeyProblem;
}

/** What is wrong with a field of the form. */
export interface KeyProblem {
  readonly field: 'name' | 'scope' | 'expiry';
  readonly text: string;
}

export function newKeyPage(visit: ShopVisit, filled: KeyForm = {}): Answer {
  const { shop } = visit;
  const { name = '', scopes = [], id = apiKeys.newId(), expiry, problem } = filled;
  const form = html`
    <form class="card" method="post" action="${shopPath(shop, '/keys')}">
      ${token(visit)}
      <input type="hidden" name="id" value="${id}" />
      ${nameField(
        name,
        'What the key is for, such as “Storefront” or “Support agent”.',
        problem?.field === 'name',
      )}
      <fieldset ${problem?.field === 'scope' ? html`aria-describedby="${problemId}"` : undefined}>
        <legend>Permissions</legend>
        ${allScopes.map(
          (scope, index) =>
            html`<label class="choice">
              <input
                type="checkbox"
                name="scope"
                value="${scope}"
                ${scopes.includes(scope) ? html`checked` : undefined}
                ${
                  problem?.field === 'scope'
                    ? html`aria-invalid="true" ${index === 0 ? html`autofocus` : undefined}`
                    : undefined
                }
              />
              <span>${scopeSentences[scope]} <code>${scope}</code></span>
            </label>`,
        )}
        <span class="hint">All keys are read-only.</span>
      </fieldset>
      ${expiryField(expiry, problem?.field === 'expiry')}
      <button>Create key</button>
      <a href="${shopPath(shop, '/keys')}">Cancel</a>
    </form>
  `;
  return keyForm(visit, 'Create key', form, problem?.text);
}

interface CreatedKey {
  readonly id: string;
  readonly secret: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly baseUrl: string;
  /** Example values of parameters. */
  readonly samples: Texts;
  /** Shown above the key. */
  readonly remark?: string;
}

/** The only page that shows a key. It is the direct response to the form, so the key is stored nowhere. */
export function createdKeyPage(visit: ShopVisit, created: CreatedKey): Answer {
  const { id, secret, name, scopes, baseUrl, samples, remark } = created;
  const { shop } = visit;
  const operation = firstOperation(scopes);
  const texts = textsFor(operation, samples);
  const mcpUrl = `${baseUrl}/api/mcp`;
  const content = html`
    ${notice(remark)}
    <section class="card">
      <h2>${name}</h2>
      <p>Copy it now. We keep only a fingerprint, so nobody, not even we, can show it again.</p>
      ${codeBlock('key', 'API key', secret)}
    </section>
    <section class="card wide">
      <h2>Try it</h2>
      <form method="post" action="${shopPath(shop, '/developers/console')}" target="_blank">
        ${token(visit)} <input type="hidden" name="key" value="${id}" />
        <input type="hidden" name="operation" value="${operation.tool}" />
        ${Object.entries(texts).map(
          ([parameter, text]) =>
            html`<input type="hidden" name="${fieldPrefix}${parameter}" value="${text}" />`,
        )}
        <p><button class="plain">Run it now</button> <span class="quiet">in a new tab</span></p>
      </form>
      ${snippetTabs(requestUrl(baseUrl, operation, texts), secret)}
    </section>
    <section class="card wide">
      <h2>For an agent (MCP)</h2>
      ${agentTabs(mcpUrl, secret)}
    </section>
    <div class="card" data-address="${shopPath(shop, '/keys?done=already')}">
      <label class="choice"> <input type="checkbox" /> <span>I have copied the key</span> </label>
      ${doneLink(visit)}
    </div>
  `;
  return page(visit, { title: 'Key created', content, assets: ['developers'], status: 201 });
}

/**
 * Leads to the address of the form that created the key, which for GET leads to the keys. Browsers put what a link to
 * a page's own address leads to in the page's place: going back then passes it, and does not ask for the form again.
 */
function doneLink({ request }: ShopVisit): Html {
  return html`<a class="button" href="${request.url}">Done</a>`;
}

export function revokeKeyPage(visit: ShopVisit, key: KeyListing): Answer {
  const { shop } = visit;
  const content = html`<form
    class="card"
    method="post"
    action="${shopPath(shop, `/keys/${key.id}/revoke`)}"
  >
    ${token(visit)}
    <h2>${key.name} <code class="quiet">…${key.lastFour}</code></h2>
    <p>
      ${
        key.lastUsedAt
          ? html`The last request with it was at ${showTime(visit, key.lastUsedAt)}.`
          : 'It has never been used.'
      }
      Requests with this key fail from now on. This cannot be undone.
    </p>
    <button class="danger">Revoke key</button>
    <a href="${shopPath(shop, '/keys')}">Keep key</a>
  </form>`;
  return page(visit, { title: 'Revoke key?', content });
}
