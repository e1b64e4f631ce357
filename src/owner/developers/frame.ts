import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { languageCookies } from '../../reference/languages.ts';
import type { ShopVisit, OwnerParts } from '../pages.ts';
import { page } from '../ui/page.ts';
import { shopPath } from '../site.ts';
import type { Tone } from '../ui/labels.ts';
import { type KeyListing, listKeys } from '../../store/keys/keys.ts';

/** The pages for developers, in the order of their links. */
const developerTabs = {
  start: { path: '/developers', label: 'Get started' },
  keys: { path: '/keys', label: 'Keys' },
  console: { path: '/developers/console', label: 'Console' },
  usage: { path: '/developers/usage', label: 'Usage' },
  requests: { path: '/developers/requests', label: 'Requests' },
} as const;

/** A page for developers, with links to the others. */
export function developerPage(
  visit: ShopVisit,
  { tab, ...parts }: Parameters<typeof page>[1] & { readonly tab: keyof typeof developerTabs },
): Answer {
  const { shop } = visit;
  const links = Object.entries(developerTabs).map(
    ([name, { path, label }]) =>
      html`<a href="${shopPath(shop, path)}" ${name === tab && html`aria-current="page"`}
        >${label}</a
      >`,
  );
  const content = html`<div class="filters" role="navigation" aria-label="Developers">${links}</div>
    ${parts.content}`;
  return {
    ...page(visit, { ...parts, content, assets: ['developers'] }),
    cookies: languageCookies(visit.request),
  };
}

/** The status of a response, with a dot that says whether the request succeeded. */
export function statusState(
  status: number,
  label = String(status),
): readonly [label: string, tone: Tone] {
  if (status >= 500) return [label, 'lost'];
  return [label, status >= 400 ? 'risk' : 'kept'];
}

/** The standard text of each status. An import of node:http would load its whole client for the web, too. */
export const statusTexts = process.getBuiltinModule('node:http').STATUS_CODES;

export function isLive({ revokedAt, expiresAt }: KeyListing, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);
}

/** The keys that a page lets choose from: newest first, those that work before the others. */
export async function listKeyChoices(
  { store, clock }: OwnerParts,
  shopId: number,
): Promise<KeyListing[]> {
  const keys = (await listKeys(store.write, shopId)).toReversed();
  const now = clock.now();
  return [...keys.filter((key) => isLive(key, now)), ...keys.filter((key) => !isLive(key, now))];
}
