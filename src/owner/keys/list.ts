import { deedOf, keyActs, nameOf } from '../../acts.ts';
import { outlives } from '../../access/keys/key-policy.ts';
import { tiers } from '../../access/tiers.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { type HourlyRequests, listKeyRequests } from '../../store/keys/requests.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import { listEntries, listPeople } from '../../store/owners/audit.ts';
import type { KeyPolicy } from '../../store/shops.ts';
import { developerPage, isLive } from '../developers/frame.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { showAgo, showTime, formatCount } from '../ui/formats.ts';
import type { Scope } from '../../vocabulary.ts';
import { type Visit, opens, shopPath } from '../site.ts';
import { tierNames } from '../ui/labels.ts';
import { hiddenRest, notice } from '../ui/elements.ts';
import { policyForm } from './policy.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';

export const scopeSentences: Readonly<Record<Scope, string>> = {
  'read:entitlements': 'See who is entitled right now',
  'read:subscriptions': 'Read subscriptions and their items',
  'read:metrics': 'Read metrics and cancel-flow outcomes',
  'read:plans': 'Read selling plans',
};

const notices: ReadonlyMap<string | null, string> = new Map([
  [
    'ended',
    'This key has expired or was revoked, so it cannot be rotated. Create a new key instead.',
  ],
  [
    'already',
    'The key was already created, and is shown only once. If you did not copy it, revoke it and create another.',
  ],
  ['outlives', 'Keys may no longer be valid for so long, so none was made. Try again.'],
  ['networks', 'Networks saved. Requests with the key from elsewhere are refused.'],
  ['policy', 'Saved. New and rotated keys follow it.'],
]);

/** A key with those beside which it works, or has worked, during a rotation. */
export interface LinkedKey extends KeyListing {
  /** That replaces it. */
  readonly successor: KeyListing | undefined;
  /** That it replaces. */
  readonly predecessor: KeyListing | undefined;
}

export const withLinks = (keys: readonly KeyListing[]): LinkedKey[] =>
  keys.map((key) => ({
    ...key,
    successor: keys.find(({ id }) => id === key.replacedBy),
    predecessor: keys.find(({ replacedBy }) => replacedBy === key.id),
  }));

export const nameOfKey = ({ name, lastFour }: KeyListing) =>
  html`${name} <code class="quiet">…${lastFour}</code>`;

export const showKey = ({ lastFour }: Pick<KeyListing, 'lastFour'>) =>
  html`<code>…${lastFour}</code>`;

/** Which other key still works during a rotation, and until when; undefined if none does. */
export function besides(visit: ShopVisit, key: LinkedKey, now: number): Html | undefined {
  const { successor, predecessor } = key;
  if (predecessor?.expiresAt && isLive(predecessor, now)) {
    return html`The key that it replaced, ${showKey(predecessor)}, works until
    ${showTime(visit, predecessor.expiresAt)}.`;
  }
  return successor && isLive(successor, now)
    ? html`Its new key, ${showKey(successor)}, goes on working.`
    : undefined;
}

/** A policy that cannot be, and why. */
export interface RefusedPolicy {
  readonly policy: KeyPolicy;
  readonly problem: string;
}

/** How many acts on keys the page shows. */
const logEntries = 50;

export async function keysPage(
  { store, clock }: OwnerParts,
  visit: ShopVisit,
  keys: readonly LinkedKey[],
  refused?: RefusedPolicy,
): Promise<Answer> {
  const { shop } = visit;
  const now = clock.now();
  const [entries, requests] = await Promise.all([
    listEntries(store.write, shop.id, { what: keyActs, limit: logEntries }),
    listKeyRequests(store.write, shop.id, firstHour(now)),
  ]);
  const people = await listPeople(store.write, entries);
  const live = keys.filter((key) => isLive(key, now));
  const longer = live
    .filter((key) => outlives(shop, key))
    .map(({ name, lastFour }) => `${name} …${lastFour}`);
  const inactive = keys.filter((key) => !isLive(key, now));
  const use = (key: KeyListing) => usageChart(visit, requests.get(key.id) ?? new Map(), now);
  const { hasApiAccess } = tiers[shop.tier];
  const action = createKeyLink(visit);
  const content = html`
    ${notice(noticeFor(visit, keys, now))} ${!hasApiAccess && locked(visit)}
    <section>
      <h2>Keys</h2>
      ${
        live.length === 0
          ? html`<p class="quiet">
              No keys yet. A key lets a program or an agent read this shop’s data. You choose what
              it may read.
            </p>`
          : html`<p class="quiet">
                Requests in the last ${shownHours} hours, by hour (UTC), including those refused for
                the rate limit, tier, scope or network. New requests appear after about a minute.
              </p>
              ${keyTable(visit, live, now, use)}`
      }
    </section>
    ${
      inactive.length !== 0 &&
      html`<section>
        <h2>Inactive</h2>
        ${keyTable(visit, inactive, now)}
      </section>`
    }
    ${
      hasApiAccess &&
      opens(visit, '/keys/policy') &&
      html`<section>
        <h2>Life of keys</h2>
        ${
          longer.length !== 0 &&
          html`<p>
            Made before, and valid for longer: ${longer.join(', ')}. Rotate them to end that.
          </p>`
        }
        ${policyForm(visit, refused?.policy)}
      </section>`
    }
    ${
      entries.length !== 0 &&
      html`<section>
        <h2>Activity</h2>
        <ul class="log">
          ${entries.map(
            (entry) =>
              html`<li>
                ${showTime(visit, entry.at)}: ${nameOf(entry.who, people)} ${deedOf(entry, people)}
              </li>`,
          )}
        </ul>
        ${opens(visit, '/audit') && html`<p><a href="${shopPath(shop, '/audit')}">Audit log</a></p>`}
      </section>`
    }
  `;
  return developerPage(visit, {
    title: 'API keys',
    tab: 'keys',
    content,
    action,
    problem: refused?.problem,
  });
}

/** The notice that the URL asks for, if the shop has that key. */
function noticeFor(visit: ShopVisit, keys: readonly LinkedKey[], now: number): HtmlValue {
  const { query } = visit;
  const done = query.get('done');
  if (done !== 'revoked') return notices.get(done);
  const key = keys.find(({ id, revokedAt }) => id === query.get('key') && revokedAt !== null);
  if (!key) return undefined;
  return html`Key revoked.
  ${
    key.lastUsedAt
      ? html`The last request with it was ${showAgo(key.lastUsedAt, now)}.`
      : 'It was never used.'
  }
  ${besides(visit, key, now)}`;
}

/** Undefined where the tier, or the visitor's role, creates none. */
export const createKeyLink = (visit: ShopVisit) =>
  tiers[visit.shop.tier].hasApiAccess && opens(visit, '/keys/new')
    ? html`<a class="button" href="${shopPath(visit.shop, '/keys/new')}">Create key</a>`
    : undefined;

/** Explains that the tier does not include API keys. */
export function locked({ shop }: ShopVisit): Html {
  return html`<section class="card">
    <h2>API keys are available from the Growth tier</h2>
    <p>
      With a key, your programs and agents can read entitlements, subscriptions, metrics and plans.
      ${shop.name} is on the ${tierNames[shop.tier]} tier, which refuses requests with keys, so none
      can be created.
    </p>
    <p>
      Ask the operator of this service to move the shop to Growth or higher. The change takes effect
      at once.
    </p>
  </section>`;
}

/** @param use renders the use of live keys */
function keyTable(
  visit: ShopVisit,
  keys: readonly LinkedKey[],
  now: number,
  use?: (key: KeyListing) => Html,
): Html {
  return plainTable(keys, [
    ['Key', nameOfKey, 'head'],
    [
      'Permissions',
      ({ scopes, networks }) =>
        html`${scopeList(scopes)}
        ${networks.length !== 0 && html`<span class="quiet">Only from ${networks.join(', ')}</span>`}`,
    ],
    ['Created', ({ createdAt }) => showTime(visit, createdAt)],
    [
      'Last used',
      (key) => html`${key.lastUsedAt ? showTime(visit, key.lastUsedAt) : 'Never'} ${use?.(key)}`,
    ],
    [
      hiddenHead('Status'),
      (key) => html`${statusOf(visit, key, now)} ${use && actionsOn(visit, key)}`,
      'state',
    ],
  ]);
}

function statusOf(visit: ShopVisit, key: LinkedKey, now: number): Html | undefined {
  const { revokedAt, expiresAt, successor, predecessor } = key;
  if (revokedAt) return html`Revoked ${showTime(visit, revokedAt)}`;
  const replaces = predecessor && isLive(predecessor, now);
  if (!successor && !replaces && !expiresAt) return undefined;
  const end = !isLive(key, now) ? 'Expired' : successor ? 'Works until' : 'Expires';
  return html`<span
    >${
      successor &&
      html`Replaced by ${showKey(successor)}${successor.revokedAt !== null && ', which is revoked'}.`
    }
    ${replaces && html`Replaces ${showKey(predecessor)}.`}
    ${expiresAt !== null && html`${end} ${showTime(visit, expiresAt)}`}</span
  >`;
}

function actionsOn(visit: ShopVisit, { id, name, replacedBy }: KeyListing): Html {
  const { shop } = visit;
  const link = (action: string, label: string) => {
    const path = `/keys/${id}/${action}`;
    return (
      opens(visit, path) && html`<a href="${shopPath(shop, path)}">${label}${hiddenRest(name)}</a> `
    );
  };
  return html`<a href="${shopPath(shop, `/developers/console?key=${id}`)}"
      >Test${hiddenRest(name)}</a
    >
    ${link('networks', 'Networks')} ${replacedBy === null && link('rotate', 'Rotate')}
    ${link('revoke', 'Revoke')}`;
}

function scopeList(scopes: readonly Scope[]): Html {
  return html`<ul class="scopes">
    ${scopes.map((scope) => html`<li>${scopeSentences[scope]} <code>${scope}</code></li>`)}
  </ul>`;
}

const hourMilliseconds = 3_600_000;
const shownHours = 24;

/** The first hour shown, in hours since 1970 (UTC); the last is the current hour. */
function firstHour(now: number): number {
  return Math.floor(now / hourMilliseconds) - shownHours + 1;
}

/** SVG units. */
const chartSize = { height: 32, step: 6, bar: 4 } as const;

/** A key's requests in the last 24 hours, as bars per hour and as text. */
function usageChart(visit: Visit, requests: HourlyRequests, now: number): Html {
  const first = firstHour(now);
  const used = Array.from({ length: shownHours }, (_, place) => {
    const [time, count] = [clockTime(first + place), requests.get(first + place) ?? 0];
    return { place, time, count, formatted: formatCount(visit, count) };
  }).filter(({ count }) => count > 0);
  const total = used.reduce((all, { count }) => all + count, 0);
  const sum = `${formatCount(visit, total)} in ${shownHours} h`;
  if (total === 0) return html`<div class="use">${sum}</div>`;

  const busiest = used.reduce((max, each) => (each.count > max.count ? each : max));
  const { height, step, bar } = chartSize;
  const bars = used.map(({ place, count, time, formatted }) => {
    // An hour with any requests has a visible bar.
    const barHeight = Math.max(2, Math.round((count / busiest.count) * height));
    return html`<rect
      x="${place * step}"
      y="${height - barHeight}"
      width="${bar}"
      height="${barHeight}"
      ><title>${time}: ${formatted}</title></rect
    >`;
  });
  const label = `Requests: ${sum}, by hour in UTC. Busiest hour: ${busiest.time}, with ${busiest.formatted}`;
  return html`<div class="use">
    <svg
      role="img"
      aria-label="${label}"
      viewBox="0 0 ${shownHours * step - (step - bar)} ${height + 1}"
      width="${shownHours * step - (step - bar)}"
      height="${height + 1}"
    >
      ${bars}
      <path d="M0 ${height + 0.5}h${shownHours * step}" />
    </svg>
    <details>
      <summary>${sum}</summary>
      <ul>
        ${used.map(({ time, formatted }) => html`<li>${time}: ${formatted}</li>`)}
      </ul>
    </details>
  </div>`;
}

/** An hour of the day, such as `14:00`. */
function clockTime(hour: number): string {
  return new Date(hour * hourMilliseconds).toISOString().slice(11, 16);
}
