import { newKeyId } from '../access/create-key.ts';
import { type Scope, scopes as allScopes } from '../access/scopes.ts';
import { tiers } from '../access/tiers.ts';
import type { Answer } from '../http/answer.ts';
import { type Html, html } from '../http/html.ts';
import type { KeyListing } from '../store/keys.ts';
import type { LogEntry } from '../store/owner-log.ts';
import { page } from './answers.ts';
import type { ShopVisit } from './desk.ts';
import { alert, layout, notice, shopPath, tierNames, token } from './layout.ts';
import { showTime } from './times.ts';

const scopeSentences: Readonly<Record<Scope, string>> = {
  'read:entitlements': 'See who is entitled right now',
  'read:subscriptions': 'Read subscriptions and their items',
  'read:metrics': 'Read metrics and cancel-flow outcomes',
  'read:plans': 'Read selling plans',
};

const done: Readonly<Record<string, string>> = {
  revoked: 'Key revoked. Requests with it are refused from now on.',
  already:
    'That key was created before, and is shown only once. If you have not copied it, revoke it and create another.',
};

export const keyNameLength = 80;

interface KeysPage {
  readonly keys: readonly KeyListing[];
  readonly log: readonly LogEntry[];
}

export function keysPage(visit: ShopVisit, { keys, log }: KeysPage): Answer {
  const { shop } = visit;
  const live = keys.filter(({ revokedAt }) => revokedAt === null);
  const ended = keys.filter(({ revokedAt }) => revokedAt !== null);
  const content = html`
    ${notice(done[visit.query.get('done') ?? ''])}
    ${
      tiers[shop.tier].hasApiAccess
        ? html`<p><a class="button" href="${shopPath(shop, '/keys/new')}">Create key</a></p>`
        : locked(visit)
    }
    <section>
      <h2>Keys</h2>
      ${
        live.length === 0
          ? html`<p class="quiet">
              No keys yet. A key lets a program, or an agent, read this shop’s data; what it may
              read, you choose.
            </p>`
          : keyTable(visit, live)
      }
    </section>
    ${
      ended.length === 0
        ? undefined
        : html`<section>
            <h2>Revoked</h2>
            ${keyTable(visit, ended)}
          </section>`
    }
    ${log.length === 0 ? undefined : logSection(visit, log)}
  `;
  return page(layout(visit, { title: 'Developers', content, shop, current: 'keys' }));
}

/** Why keys are of no use yet, and what to do. */
function locked({ shop }: ShopVisit): Html {
  return html`<section class="card">
    <h2>Keys begin with the Growth tier</h2>
    <p>
      With a key your own programs and agents read entitlements, subscriptions, metrics and plans.
      ${shop.name} is on ${tierNames[shop.tier]}, where requests with keys are refused, so none can
      be created.
    </p>
    <p>Ask whoever runs this service to move the shop to Growth or higher; it counts at once.</p>
  </section>`;
}

function keyTable(visit: ShopVisit, keys: readonly KeyListing[]): Html {
  const rows = keys.map(
    (key) =>
      html`<tr>
        <th scope="row">${key.name} <code class="quiet">…${key.lastFour}</code></th>
        <td data-label="May">${scopeList(key.scopes)}</td>
        <td data-label="Created">${showTime(visit, key.createdAt)}</td>
        <td data-label="Last used">
          ${key.lastUsedAt ? showTime(visit, key.lastUsedAt) : 'Never'}
        </td>
        <td>
          ${
            key.revokedAt
              ? html`Revoked ${showTime(visit, key.revokedAt)}`
              : html`<a href="${shopPath(visit.shop, `/keys/${key.id}/revoke`)}"
                  >Revoke<span class="unseen"> ${key.name}</span></a
                >`
          }
        </td>
      </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Key</th>
        <th scope="col">May</th>
        <th scope="col">Created</th>
        <th scope="col">Last used</th>
        <th scope="col"><span class="unseen">State</span></th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function scopeList(scopes: readonly Scope[]): Html {
  return html`<ul class="scopes">
    ${scopes.map((scope) => html`<li>${scopeSentences[scope]} <code>${scope}</code></li>`)}
  </ul>`;
}

const actions: Readonly<Record<LogEntry['action'], string>> = {
  key_created: 'created',
  key_revoked: 'revoked',
};

function logSection(visit: ShopVisit, log: readonly LogEntry[]): Html {
  const rows = log.map(
    ({ at, email, isCommandLine, action, keyName, keyId }) =>
      html`<li>
        ${showTime(visit, at)}: <strong>${keyName}</strong> <code class="quiet">${keyId}</code> was
        ${actions[action]} by ${isCommandLine ? 'the command line' : (email ?? 'a former owner')}
      </li>`,
  );
  return html`<section>
    <h2>Log</h2>
    <ul class="log">
      ${rows}
    </ul>
  </section>`;
}

interface KeyForm {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly id?: string;
  readonly problem?: string;
}

export function newKeyPage(visit: ShopVisit, form: KeyForm = {}): Answer {
  const { shop } = visit;
  const { name = '', scopes = [], id = newKeyId(), problem } = form;
  const hasAccess = tiers[shop.tier].hasApiAccess;
  const content = hasAccess
    ? html`
        ${alert(problem)}
        <form class="card" method="post" action="${shopPath(shop, '/keys')}">
          ${token(visit)}
          <input type="hidden" name="id" value="${id}" />
          <p class="field">
            <label for="name">Name</label>
            <input
              id="name"
              name="name"
              required
              maxlength="${keyNameLength}"
              autocomplete="off"
              value="${name}"
              aria-describedby="name-hint"
            />
            <span class="hint" id="name-hint"
              >What will use it, such as “Till” or “Support agent”.</span
            >
          </p>
          <fieldset>
            <legend>What it may do</legend>
            ${allScopes.map(
              (scope) =>
                html`<label class="choice">
                  <input
                    type="checkbox"
                    name="scope"
                    value="${scope}"
                    ${scopes.includes(scope) ? html`checked` : undefined}
                  />
                  <span>${scopeSentences[scope]} <code>${scope}</code></span>
                </label>`,
            )}
            <span class="hint">No key can change anything.</span>
          </fieldset>
          <button>Create key</button>
          <a href="${shopPath(shop, '/keys')}">Cancel</a>
        </form>
      `
    : locked(visit);
  const status = hasAccess ? (problem === undefined ? 200 : 422) : 403;
  return page(layout(visit, { title: 'Create key', content, shop, current: 'keys' }), status);
}

const samplePaths: Readonly<Record<Scope, string>> = {
  'read:entitlements': '/entitlements?customerId=1',
  'read:subscriptions': '/subscriptions?limit=1',
  'read:metrics': '/metrics/summary',
  'read:plans': '/plans',
};

interface CreatedKey {
  readonly key: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly baseUrl: string;
}

/** The only page that ever has a key. It answers the form itself, so that nothing keeps the key meanwhile. */
export function createdKeyPage(visit: ShopVisit, created: CreatedKey): Answer {
  const { key, name, scopes, baseUrl } = created;
  const { shop } = visit;
  const path = samplePaths[scopes[0] as Scope];
  const curl = `curl -H "Authorization: Bearer ${key}" '${baseUrl}/api/external/v1${path}'`;
  const server = {
    type: 'http',
    url: `${baseUrl}/api/mcp`,
    headers: { Authorization: `Bearer ${key}` },
  };
  const configuration = JSON.stringify({ mcpServers: { retention: server } }, undefined, 2);
  const content = html`
    <section class="card">
      <h2>${name}</h2>
      <p>Copy it now. We keep only a fingerprint, so nobody, not even we, can show it again.</p>
      <pre tabindex="0" aria-label="The key"><code id="key">${key}</code></pre>
      ${copyButton('key')}
    </section>
    <section class="card">
      <h2>Try it</h2>
      <pre
        tabindex="0"
        aria-label="A command to try the key"
      ><code id="command">${curl}</code></pre>
      ${copyButton('command')}
    </section>
    <section class="card">
      <h2>For an agent (MCP)</h2>
      <pre
        tabindex="0"
        aria-label="The configuration of an agent"
      ><code id="configuration">${configuration}</code></pre>
      ${copyButton('configuration')}
    </section>
    <form class="card" method="get" action="${shopPath(shop, '/keys')}">
      <label class="choice">
        <input type="checkbox" required /> <span>I have copied the key</span>
      </label>
      <button>Done</button>
    </form>
  `;
  return page(layout(visit, { title: 'Key created', content, shop, current: 'keys' }), 201);
}

/** Shown by the script that makes it work. */
function copyButton(id: string): Html {
  return html`<p class="copy">
    <button type="button" class="plain" data-copies="${id}" hidden>Copy</button>
  </p>`;
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
          : 'It was never used.'
      }
      Requests with this key fail from now on. This cannot be undone.
    </p>
    <button class="danger">Revoke key</button>
    <a href="${shopPath(shop, '/keys')}">Keep it</a>
  </form>`;
  return page(layout(visit, { title: 'Revoke key?', content, shop, current: 'keys' }));
}
