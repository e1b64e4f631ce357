import { type Html, html } from '../../http/html.ts';
import { type Home, homeKey, listHomes } from '../../platforms/source-ids.ts';
import type { RecordKind } from '../../store/records/export-dates.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';

/** A visit with what is known of the records on the page elsewhere. */
export interface HomesVisit extends ShopVisit {
  readonly homes?: ReadonlyMap<string, Home>;
}

/** A record; null for none. */
export type NamedRecord = readonly [kind: RecordKind, id: number | null];

export async function withHomes<Visit extends ShopVisit>(
  { store }: Pick<OwnerParts, 'store'>,
  visit: Visit,
  named: readonly NamedRecord[],
): Promise<Visit & HomesVisit> {
  const records = named.flatMap(([kind, id]) => (id === null ? [] : { kind, id }));
  return { ...visit, homes: await listHomes(store.write, visit.shop, records) };
}

export const homeOf = ({ homes }: HomesVisit, kind: RecordKind, id: number | null) =>
  id === null ? undefined : homes?.get(homeKey(kind, id));

/** A record's id as its source writes it, or else its number here. */
export const showId = (visit: HomesVisit, kind: RecordKind, id: number) =>
  homeOf(visit, kind, id)?.shown ?? String(id);

/** Where all of some records are looked after, with `{id}` in place of their ids; undefined if that differs by more. */
export function sharedHome(
  visit: HomesVisit,
  records: readonly NamedRecord[],
): Home['page'] | undefined {
  const homes = records.flatMap(([kind, id]) => (id === null ? [] : [homeOf(visit, kind, id)]));
  const [href, ...others] = new Set(
    homes.map((home) => home?.page?.href.replace(encodeURIComponent(home.shown), '{id}')),
  );
  const page = homes[0]?.page;
  return page && href !== undefined && others.length === 0 ? { ...page, href } : undefined;
}

/** Leads to a record's page at the platform, or in the owner's own system. */
export function homeLink(
  visit: HomesVisit,
  kind: RecordKind,
  id: number,
  look: 'short' | 'button' = 'short',
): Html | undefined {
  const page = homeOf(visit, kind, id)?.page;
  if (page === undefined) return undefined;
  const { title, href } = page;
  return look === 'button'
    ? html`<a class="button plain" href="${href}" target="_blank" rel="noreferrer"
        >Open in ${title}</a
      >`
    : // CSS draws the arrow, and the page's referrer policy replaces `rel`.
      html`<a href="${href}" target="_blank" title="Open in ${title}"></a>`;
}

/** Its id at the source, to be copied, and its number here, as entries of a list of details. */
export function sourceIdEntry(visit: HomesVisit, kind: RecordKind, id: number): Html {
  const sourceId = homeOf(visit, kind, id)?.sourceId;
  if (sourceId === String(id)) return copied('source-id', 'Id', sourceId);
  return html`${sourceId !== undefined && copied('source-id', 'Id at the source', sourceId)}
  ${copied('number', 'Number here', String(id))}`;
}

/** @param id unique on the page */
const copied = (id: string, label: string, text: string) =>
  html`<dt>${label}</dt>
    <dd class="copied">
      <code id="${id}">${text}</code>
      <button type="button" class="plain small" data-copies="${id}" hidden>Copy</button>
    </dd>`;
