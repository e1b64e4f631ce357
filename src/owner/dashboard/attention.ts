import { day } from '../../metrics/bounds.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { type SyncProblem, listSyncProblems } from '../../platforms/keeper.ts';
import { listPushSources } from '../../store/push/sources.ts';
import { type KeyListing, listKeys } from '../../store/keys/keys.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { countOf, showDay, showTime } from '../ui/formats.ts';
import { opens, shopPath } from '../site.ts';

export type Concerns = Awaited<ReturnType<typeof readConcerns>>;

/** What may need an owner's attention, apart from the figures. */
export async function readConcerns(
  { store, uploads, clock }: Pick<OwnerParts, 'store' | 'uploads' | 'clock'>,
  shopId: number,
) {
  const [problems, keys, upload, pushSources] = await Promise.all([
    listSyncProblems(store.write, shopId),
    listKeys(store.write, shopId),
    uploads.find(shopId),
    listPushSources(store.write, shopId, clock.now()),
  ]);
  return { problems, keys, upload, pushSources };
}

interface Item {
  readonly tone: 'lost' | 'risk';
  readonly text: HtmlValue;
  readonly link: string;
  /** Below the shop's page. */
  readonly path: string;
}

const item = (text: HtmlValue, link: string, path: string, tone: Item['tone'] = 'risk'): Item => ({
  tone,
  text,
  link,
  path,
});

/** How long before its end an owner should hear of a key that expires. */
const noticeMs = 7 * day;
/** In which part of the time for moving to its new key a key is a concern, if the new one is not used. */
const lastPart = 1 / 3;
/** How long an owner is reminded of records that were refused after they had arrived. */
const reminderMs = 7 * day;

/**
 * What needs attention, with links to what can be done.
 * @param outstanding payments; undefined if the page is about the past
 */
export function attention(
  visit: ShopVisit,
  { problems, keys, upload, pushSources }: Concerns,
  { outstanding = 0, now }: { readonly outstanding?: number | undefined; readonly now: number },
): Html | undefined {
  const refused = Object.values(upload?.counts ?? {}).reduce((sum, each) => sum + each.refused, 0);
  const items: Item[] = problems.map((each) => syncProblem(visit, each));
  if (outstanding > 0) {
    const text = countOf(visit, outstanding, 'payment outstanding', 'payments outstanding');
    items.push(item(text, 'See who', '/recovery/open'));
  }
  if (upload && refused > 0) {
    const text = `${countOf(visit, refused, 'record')} of ${upload.fileName} refused`;
    items.push(item(text, 'See why', '/sources/file'));
  }
  for (const { name, refusedRecords, lastRefusedAt, revokedAt } of pushSources) {
    if (!lastRefusedAt || revokedAt || lastRefusedAt.getTime() <= now - reminderMs) continue;
    const records = countOf(visit, refusedRecords, 'record');
    const text = `${records} of “${name}” refused in the last 30 days`;
    items.push(item(text, 'See why', '/sources#push'));
  }
  for (const key of keys) {
    const { id, name, expiresAt, revokedAt } = key;
    const left = (expiresAt?.getTime() ?? Infinity) - now;
    if (!expiresAt || revokedAt || left <= 0 || left >= noticeMs || isFollowed(key, keys)) continue;
    const next = replacementOf(key, keys);
    if (next && left > (expiresAt.getTime() - next.createdAt.getTime()) * lastPart) continue;
    const expires = html`expires ${showDay(visit, expiresAt)}`;
    items.push(
      next === undefined
        ? item(html`Key “${name}” ${expires}`, 'Replace it', `/keys/${id}/rotate`)
        : item(
            html`Key “${name}” ${expires}, and its new key is not used yet`,
            'See keys',
            '/keys',
          ),
    );
  }
  // Members do not see what they cannot act on.
  const shown = items.filter(({ path }) => opens(visit, path));
  if (shown.length === 0) return undefined;
  return html`<ul class="concerns" aria-label="Needs attention">
    ${shown.map(
      ({ tone, text, link, path }) =>
        html`<li>
          <span class="dot ${tone}">${text}</span>
          <a href="${shopPath(visit.shop, path)}">${link} <span aria-hidden="true">→</span></a>
        </li>`,
    )}
  </ul>`;
}

const replacementOf = ({ replacedBy }: KeyListing, keys: readonly KeyListing[]) =>
  keys.find(({ id }) => id === replacedBy);

/** Whether a key that replaces this one, or replaced its replacement, is in use. */
function isFollowed(key: KeyListing, keys: readonly KeyListing[]): boolean {
  const next = replacementOf(key, keys);
  return next !== undefined && (next.lastUsedAt !== null || isFollowed(next, keys));
}

/** Why data from a platform does not arrive, in words for owners. */
function syncProblem(
  visit: ShopVisit,
  { platform: { name, title }, kind, since }: SyncProblem,
): Item {
  const texts: Readonly<Record<SyncProblem['kind'], Html>> = {
    refused: html`${title} no longer lets us read this shop. Nothing new has arrived since
    ${since ? showTime(visit, since) : 'then'}.`,
    paused: html`The app is no longer installed at ${title}, so nothing new arrives.`,
    failing: html`Fetching data from ${title} fails at the moment. We keep trying.`,
  };
  return item(texts[kind], 'See what to do', `/sources#${name}`, 'lost');
}
