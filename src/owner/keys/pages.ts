import type { Scope } from '../../access/scopes.ts';
import { tiers } from '../../access/tiers.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { HourlyRequests } from '../../store/keys/key-requests.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import type { LogEntry } from '../../store/keys/key-log.ts';
import { page } from '../ui/answers.ts';
import type { ShopVisit } from '../pages.ts';
import { showUse, shownHours } from './use.ts';
import { layout, notice, shopPath, tierNames } from '../ui/layout.ts';
import { showAgo, showTime } from '../ui/times.ts';

export const scopeSentences: Readonly<Record<Scope, string>> = {
  'read:entitlements': 'See who is entitled right now',
  'read:subscriptions': 'Read subscriptions and their items',
  'read:metrics': 'Read metrics and cancel-flow outcomes',
  'read:plans': 'Read selling plans',
};

const done: ReadonlyMap<string | null, string> = new Map([
  ['ended', 'That key has ended; there is nothing to rotate. Create a new one.'],
  [
    'already',
    'That was done before, and a key is shown only once. If you have not copied it, revoke it and create another.',
  ],
]);

const none: HourlyRequests = new Map();

interface KeysPage {
  readonly keys: readonly KeyListing[];
  readonly log: readonly LogEntry[];
  /** By the key's id. */
  readonly requests: ReadonlyMap<string, HourlyRequests>;
  /** What has expired by now has ended. */
  readonly now: number;
}

export function keysPage(visit: ShopVisit, parts: KeysPage): Answer {
  const { keys, log, now } = parts;
  const { shop } = visit;
  const live = keys.filter((key) => isLive(key, now));
  const ended = keys.filter((key) => !isLive(key, now));
  const use = (key: KeyListing) => showUse(visit, parts.requests.get(key.id) ?? none, now);
  const { hasApiAccess } = tiers[shop.tier];
  const action = hasApiAccess
    ? html`<a class="button" href="${shopPath(shop, '/keys/new')}">Create key</a>`
    : undefined;
  const content = html`
    ${notice(doneIn(visit, parts))} ${hasApiAccess ? undefined : locked(visit)}
    <section>
      <h2>Keys</h2>
      ${
        live.length === 0
          ? html`<p class="quiet">
              No keys yet. A key lets a program, or an agent, read this shop’s data; what it may
              read, you choose.
            </p>`
          : html`<p class="quiet">
                Requests of the last ${shownHours} hours, hour by hour in UTC, those refused by the
                limit, the tier or the scope included. The latest follow about a minute later.
              </p>
              ${keyTable(visit, live, use)}`
      }
    </section>
    ${
      ended.length === 0
        ? undefined
        : html`<section>
            <h2>Ended</h2>
            ${keyTable(visit, ended)}
          </section>`
    }
    ${log.length === 0 ? undefined : logSection(visit, log)}
  `;
  return page(layout(visit, { title: 'Developers', content, action, shop, current: 'keys' }));
}

/** What the address says was done, if the shop has such a key. */
function doneIn({ query }: ShopVisit, { keys, now }: KeysPage): HtmlValue {
  const what = query.get('done');
  if (what !== 'revoked') return done.get(what);
  const key = keys.find(({ id, revokedAt }) => id === query.get('key') && revokedAt !== null);
  if (!key) return undefined;
  return key.lastUsedAt
    ? html`Key revoked. The last request with it was ${showAgo(key.lastUsedAt, now)}.`
    : 'Key revoked. It was never used.';
}

/** Why keys are of no use yet, and what to do. */
export function locked({ shop }: ShopVisit): Html {
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

/** @param use of keys that are live */
function keyTable(
  visit: ShopVisit,
  keys: readonly KeyListing[],
  use?: (key: KeyListing) => Html,
): Html {
  const rows = keys.map(
    (key) =>
      html`<tr>
        <th scope="row">${key.name} <code class="quiet">…${key.lastFour}</code></th>
        <td data-label="May">${scopeList(key.scopes)}</td>
        <td data-label="Created">${showTime(visit, key.createdAt)}</td>
        <td data-label="Last used">
          ${key.lastUsedAt ? showTime(visit, key.lastUsedAt) : 'Never'} ${use?.(key)}
        </td>
        <td class="state">
          ${stateOf(visit, key, use !== undefined)} ${use && actionsOn(visit, key)}
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

export function isLive({ revokedAt, expiresAt }: KeyListing, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);
}

function stateOf(visit: ShopVisit, key: KeyListing, isAlive: boolean): Html | undefined {
  if (key.revokedAt) return html`Revoked ${showTime(visit, key.revokedAt)}`;
  if (!key.expiresAt) return undefined;
  const replaced = key.replacedBy === null ? '' : 'Replaced; ';
  return html`<span
    >${replaced}${isAlive ? 'ends' : 'ended'} ${showTime(visit, key.expiresAt)}</span
  >`;
}

function actionsOn({ shop }: ShopVisit, { id, name, replacedBy }: KeyListing): Html {
  const link = (action: string, label: string) =>
    html`<a href="${shopPath(shop, `/keys/${id}/${action}`)}"
      >${label}<span class="unseen"> ${name}</span></a
    > `;
  return html`${replacedBy === null ? link('rotate', 'Rotate') : undefined}
  ${link('revoke', 'Revoke')}`;
}

function scopeList(scopes: readonly Scope[]): Html {
  return html`<ul class="scopes">
    ${scopes.map((scope) => html`<li>${scopeSentences[scope]} <code>${scope}</code></li>`)}
  </ul>`;
}

const actions: Readonly<Record<LogEntry['action'], string>> = {
  key_created: 'created',
  key_revoked: 'revoked',
  key_rotated: 'replaced',
  key_uninstalled: 'revoked',
};

function actorOf({ action, email, isCommandLine }: LogEntry): string {
  if (action === 'key_uninstalled') return 'Shopify, where the app was uninstalled';
  return isCommandLine ? 'the command line' : (email ?? 'a former owner');
}

function logSection(visit: ShopVisit, log: readonly LogEntry[]): Html {
  const rows = log.map(
    (entry) =>
      html`<li>
        ${showTime(visit, entry.at)}: <strong>${entry.keyName}</strong>
        <code class="quiet">${entry.keyId}</code> was ${actions[entry.action]} by ${actorOf(entry)}
      </li>`,
  );
  return html`<section>
    <h2>Log</h2>
    <ul class="log">
      ${rows}
    </ul>
  </section>`;
}
