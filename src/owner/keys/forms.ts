import { usualDays } from '../../access/keys/key-policy.ts';
import { apiKeys } from '../../access/keys/keys.ts';
import { tiers } from '../../access/tiers.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import type { KeyPolicy } from '../../store/shops.ts';
import { languageOf } from '../../reference/languages.ts';
import { agentTabs, snippetTabs } from '../developers/snippets.ts';
import { fieldPrefix } from '../developers/console.ts';
import { firstOperation, requestUrl, type Texts, textsFor } from '../developers/requests.ts';
import { page } from '../ui/page.ts';
import { codeBlock, notice, problemId } from '../ui/elements.ts';
import type { ShopVisit } from '../pages.ts';
import { type LinkedKey, besides, locked, nameOfKey, scopeSentences, showKey } from './list.ts';
import { allowedDays, daysField } from './policy.ts';
import {
  actions,
  choiceField,
  hiddenFields,
  inputField,
  nameField,
  overlapChoices,
  postForm,
  token,
} from '../ui/fields.ts';
import { showTime } from '../ui/formats.ts';
import { type Scope, scopes as allScopes } from '../../vocabulary.ts';
import { shopPath } from '../site.ts';

/** In days; undefined for never. */
export type Expiry = number | undefined;

function expiryField({ shop }: ShopVisit, expiry: Expiry, isInvalid = false): Html {
  const none = shop.keyMaxDays ? {} : { none: 'Never' };
  const parts = { id: 'expiry', label: 'Expires', isInvalid, ...none };
  return daysField(parts, expiry ?? shop.keyMaxDays, allowedDays(shop));
}

/** @returns undefined if it was chosen to be never, or no choice was made */
export function readExpiry(form: URLSearchParams, policy: KeyPolicy): Expiry {
  return allowedDays(policy).find((days) => String(days) === form.get('expiry'));
}

/** The lifetime that a key was created with, or the closest one that can be chosen. */
function expiryOf(policy: KeyPolicy, { createdAt, expiresAt }: KeyListing): Expiry {
  if (!expiresAt) return undefined;
  const days = (expiresAt.getTime() - createdAt.getTime()) / 86_400_000;
  const nearest = (one: number, other: number) => Math.abs(one - days) - Math.abs(other - days);
  return allowedDays(policy).toSorted(nearest)[0];
}

function networksField(networks: string, isInvalid = false): Html {
  return inputField(
    {
      id: 'networks',
      label: 'Allowed networks',
      hint: 'Addresses and networks, such as 203.0.113.0/24 or 2001:db8::/32, with commas in between. Requests from elsewhere are refused. Empty: everywhere.',
      value: networks,
      isInvalid,
    },
    html`autocomplete="off" spellcheck="false"`,
  );
}

const headingOf = (key: KeyListing) => html`<h2>${nameOfKey(key)}</h2>`;

/** A page with a form that creates a key, or the reason why the tier does not allow one. */
function keyForm(visit: ShopVisit, title: string, form: Html, problem?: string): Answer {
  const { shop } = visit;
  const { hasApiAccess } = tiers[shop.tier];
  return hasApiAccess
    ? page(visit, { title, content: form, problem })
    : page(visit, { title, content: locked(visit), status: 403 });
}

export function rotateKeyPage(
  visit: ShopVisit,
  key: KeyListing,
  filled: { readonly expiry: Expiry; readonly problem?: string | undefined } = {
    expiry: expiryOf(visit.shop, key),
  },
): Answer {
  const { expiry, problem } = filled;
  const { shop } = visit;
  const form = postForm(
    visit,
    shopPath(shop, `/keys/${key.id}/rotate`),
    html`${hiddenFields([['id', apiKeys.newId()]])} ${headingOf(key)}
      <p>
        A new key with the same name, scopes and networks replaces it. Both work until the old key
        expires.
      </p>
      ${overlapChoices('The old key expires')} ${expiryField(visit, expiry)}
      ${actions(html`<button>Rotate key</button>`, shopPath(shop, '/keys'), 'Keep key')}`,
  );
  return keyForm(visit, 'Rotate key', form, problem);
}

/** What is wrong with a field of the form. */
export interface KeyProblem {
  readonly field: 'name' | 'scope' | 'networks' | 'expiry';
  readonly text: string;
}

/** @param filled what was entered; the networks as they were typed */
export function newKeyPage(
  visit: ShopVisit,
  filled: Readonly<{
    name?: string;
    scopes?: readonly string[];
    networks?: string;
    id?: string;
    expiry: Expiry;
  }> = { expiry: usualDays(visit.shop) },
  problem?: KeyProblem,
): Answer {
  const { shop } = visit;
  const { name = '', scopes = [], networks = '', id = apiKeys.newId(), expiry } = filled;
  const isWrong = problem?.field === 'scope';
  const scopeChoice = (scope: Scope, index: number) =>
    choiceField(
      html`type="checkbox" name="scope" value="${scope}" ${scopes.includes(scope) && html`checked`}
      ${isWrong && html`aria-invalid="true"`} ${isWrong && index === 0 && html`autofocus`}`,
      html`${scopeSentences[scope]} <code>${scope}</code>`,
    );
  const form = postForm(
    visit,
    shopPath(shop, '/keys'),
    html`${hiddenFields([['id', id]])}
      ${nameField(
        name,
        'What the key is for, such as “Storefront” or “Support agent”.',
        problem?.field === 'name',
      )}
      <fieldset ${isWrong && html`aria-describedby="${problemId}"`}>
        <legend>Permissions</legend>
        ${allScopes.map(scopeChoice)}
        <span class="hint">All keys are read-only.</span>
      </fieldset>
      ${networksField(networks, problem?.field === 'networks')}
      ${expiryField(visit, expiry, problem?.field === 'expiry')}
      ${actions(html`<button>Create key</button>`, shopPath(shop, '/keys'))}`,
  );
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
  /** The key that it replaces. */
  readonly old?: KeyListing;
}

/** The only page that shows a key. It is the direct response to the form, so the key is stored nowhere. */
export function createdKeyPage(visit: ShopVisit, created: CreatedKey): Answer {
  const { id, secret, name, scopes, baseUrl, samples, old } = created;
  const { shop } = visit;
  const operation = firstOperation(scopes);
  const texts = textsFor(operation, samples);
  const mcpUrl = `${baseUrl}/api/mcp`;
  // Leads to the address of the form that created the key, which for GET leads to the keys. Browsers put what a link to
  // a page's own address leads to in the page's place: going back then passes it, and does not ask for the form again.
  const done = html`<a class="button" href="${visit.request.url}">Done</a>`;
  const content = html`
    ${notice(
      old &&
        html`The old key, ${showKey(old)},
        ${
          old.expiresAt && !old.revokedAt
            ? html`works until ${showTime(visit, old.expiresAt)}, beside this one.`
            : 'has been revoked. Requests with it are refused.'
        }`,
    )}
    <section class="card">
      <h2>${name}</h2>
      <p>Copy it now. We keep only a fingerprint, so it cannot be shown again, not even by us.</p>
      ${codeBlock('key', 'API key', secret)}
    </section>
    <section class="card wide">
      <h2>Try it</h2>
      <form method="post" action="${shopPath(shop, '/developers/console')}" target="_blank">
        ${token(visit)}
        ${hiddenFields([
          ['key', id],
          ['operation', operation.tool],
          ...Object.entries(texts).map(
            ([parameter, text]) => [fieldPrefix + parameter, text] as const,
          ),
        ])}
        <p><button class="plain">Run it now</button> <span class="quiet">in a new tab</span></p>
      </form>
      ${snippetTabs(requestUrl(baseUrl, operation, texts), languageOf(visit.request), secret)}
    </section>
    <section class="card wide">
      <h2>For an agent (MCP)</h2>
      ${agentTabs(mcpUrl, secret)}
    </section>
    <div class="card" data-address="${shopPath(shop, '/keys?done=already')}">
      ${choiceField(html`type="checkbox"`, 'I have copied the key, and can leave this page')}
      ${done}
    </div>
  `;
  const title = old ? 'Key rotated' : 'Key created';
  return page(visit, { title, content, assets: ['developers'], status: 201 });
}

export function revokeKeyPage(visit: ShopVisit, key: LinkedKey, now: number): Answer {
  const { shop } = visit;
  const content = postForm(
    visit,
    shopPath(shop, `/keys/${key.id}/revoke`),
    html`${headingOf(key)}
      <p>
        ${
          key.lastUsedAt
            ? html`The last request with it was at ${showTime(visit, key.lastUsedAt)}.`
            : 'It has never been used.'
        }
        Requests with this key fail from now on. This cannot be undone. ${besides(visit, key, now)}
      </p>
      ${actions(html`<button class="danger">Revoke key</button>`, shopPath(shop, '/keys'), 'Keep key')}`,
  );
  return page(visit, { title: 'Revoke key?', content });
}

export function networksPage(
  visit: ShopVisit,
  key: KeyListing,
  networks = key.networks.join(', '),
  problem?: string,
): Answer {
  const { shop } = visit;
  const content = postForm(
    visit,
    shopPath(shop, `/keys/${key.id}/networks`),
    html`${headingOf(key)} ${networksField(networks, problem !== undefined)}
    ${actions(html`<button>Save</button>`, shopPath(shop, '/keys'))}`,
  );
  return page(visit, { title: 'Allowed networks', content, problem });
}
