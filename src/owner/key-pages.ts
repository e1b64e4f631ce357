import type { Scope } from '../access/scopes.ts';
import { tiers } from '../access/tiers.ts';
import type { Answer } from '../http/answer.ts';
import { type Html, html } from '../http/html.ts';
import type { KeyListing } from '../store/keys.ts';
import type { LogEntry } from '../store/owner-log.ts';
import { page } from './answers.ts';
import type { ShopVisit } from './desk.ts';
import { layout, notice, shopPath, tierNames } from './layout.ts';
import { showTime } from './times.ts';

export const scopeSentences: Readonly<Record<Scope, string>> = {
  'read:entitlements': 'See who is entitled right now',
  'read:subscriptions': 'Read subscriptions and their items',
  'read:metrics': 'Read metrics and cancel-flow outcomes',
  'read:plans': 'Read selling plans',
};

const done: Readonly<Record<string, string>> = {
  ended: 'That key has ended; there is nothing to rotate. Create a new one.',
  revoked: 'Key revoked. Requests with it are refused from now on.',
  already:
    'That was done before, and a key is shown only once. If you have not copied it, revoke it and create another.',
};

interface KeysPage {
  readonly keys: readonly KeyListing[];
  readonly log: readonly LogEntry[];
  /** What has expired by now has ended. */
  readonly now: number;
}

export function keysPage(visit: ShopVisit, { keys, log, now }: KeysPage): Answer {
  const { shop } = visit;
  const live = keys.filter((key) => isLive(key, now));
  const ended = keys.filter((key) => !isLive(key, now));
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
          : keyTable(visit, live, true)
      }
    </section>
    ${
      ended.length === 0
        ? undefined
        : html`<section>
            <h2>Ended</h2>
            ${keyTable(visit, ended, false)}
          </section>`
    }
    ${log.length === 0 ? undefined : logSection(visit, log)}
  `;
  return page(layout(visit, { title: 'Developers', content, shop, current: 'keys' }));
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

function keyTable(visit: ShopVisit, keys: readonly KeyListing[], areLive: boolean): Html {
  const rows = keys.map(
    (key) =>
      html`<tr>
        <th scope="row">${key.name} <code class="quiet">…${key.lastFour}</code></th>
        <td data-label="May">${scopeList(key.scopes)}</td>
        <td data-label="Created">${showTime(visit, key.createdAt)}</td>
        <td data-label="Last used">
          ${key.lastUsedAt ? showTime(visit, key.lastUsedAt) : 'Never'}
        </td>
        <td class="state">
          ${stateOf(visit, key, areLive)} ${areLive ? actionsOn(visit, key) : undefined}
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
