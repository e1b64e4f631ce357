import { deriveCustomerId, deriveId, isCustomersAddress } from '../ingest/source-ids.ts';
import { firstOwnNumber } from '../own-number.ts';
import type { Sql } from '../store/database.ts';
import { listFeeds } from '../store/feeds/feeds.ts';
import { type SourceId, listSourceIds } from '../store/records/source-ids.ts';
import { findCustomerKey } from '../store/records/customer-keys.ts';
import { type RecordKind, findMissing } from '../store/records/export-dates.ts';
import type { Shop } from '../store/shops.ts';
import { listKeepers } from './keeper.ts';
import { feedsOf, platforms } from './registry.ts';
import type { Platform } from './platform.ts';

/** A stored record, with its id at the source if known. */
interface FoundRecord {
  readonly id: number;
  readonly sourceId: string | null;
}

/**
 * Finds a record by its id here or at its source.
 * @param sql a connection that may read customers and source ids; the login that serves requests
 * may not
 */
export async function findRecord(
  sql: Sql,
  shopId: number,
  kind: RecordKind,
  text: string,
): Promise<FoundRecord | undefined> {
  const followed = await listPlatforms(sql, shopId);
  const isAddress = kind === 'customer' && isCustomersAddress(text);
  const key = isAddress ? await findCustomerKey(sql, shopId) : undefined;
  const derived = key === undefined ? deriveId(kind, text) : deriveCustomerId(key, text);
  const candidates = [...idsIn(text, kind, followed), derived];
  const missing = await findMissing(sql, shopId, kind, candidates);
  const id = candidates.find((each) => !missing.has(each));
  if (id === undefined) return undefined;
  const known = await listKnownSourceIds(sql, shopId, [{ kind, id }], followed);
  const sourceId = known[0]?.sourceId ?? null;
  // The derived id may belong to another source id.
  return id === derived && sourceId !== null && sourceId !== text ? undefined : { id, sourceId };
}

/** A record as those know it who look after it elsewhere. */
export interface Home {
  /** Its id at the source. */
  readonly sourceId: string;
  /** The same as people write it: only the number of a GID. */
  readonly shown: string;
  /** Its page there, and whose that is. */
  readonly page: { readonly title: string; readonly href: string } | undefined;
}

type Records = readonly Pick<SourceId, 'kind' | 'id'>[];

export const homeKey = (kind: RecordKind, id: number) => `${kind} ${id}`;

/**
 * Where some of a shop's records are looked after, as far as that is known: in the owner's own system, if the shop says
 * where that is, else at the platform.
 */
export async function listHomes(
  sql: Sql,
  { id: shopId, customerLink }: Pick<Shop, 'id' | 'customerLink'>,
  asked: Records,
): Promise<ReadonlyMap<string, Home>> {
  const unique = new Map(asked.map((record) => [homeKey(record.kind, record.id), record]));
  const records = [...unique.values()];
  if (records.length === 0) return new Map();
  const [known, keepers] = await Promise.all([
    listKnownSourceIds(sql, shopId, records),
    listKeepers(sql, shopId),
  ]);
  const sourceIds = new Map(known.map(({ kind, id, sourceId }) => [homeKey(kind, id), sourceId]));
  const pageOf = (kind: RecordKind, sourceId: string, shown: string) => {
    if (kind === 'customer' && customerLink) {
      const href = customerLink.replaceAll('{id}', encodeURIComponent(shown));
      return { title: new URL(href).host, href };
    }
    for (const platform of platforms) {
      const account = keepers.find((keeper) => keeper.platform === platform)?.account;
      const href = platform.pageOf?.(kind, sourceId, account);
      if (href !== undefined) return { title: platform.title, href };
    }
    return undefined;
  };
  return new Map(
    records.flatMap(({ kind, id }) => {
      const key = homeKey(kind, id);
      // Smaller numbers are the source's own.
      const sourceId = sourceIds.get(key) ?? (id < firstOwnNumber ? String(id) : undefined);
      if (sourceId === undefined) return [];
      const shown = /^gid:.*\/(.+)$/.exec(sourceId)?.[1] ?? sourceId;
      return [[key, { sourceId, shown, page: pageOf(kind, sourceId, shown) }]];
    }),
  );
}

/** The known source ids of some of a shop's records. */
async function listKnownSourceIds(
  sql: Sql,
  shopId: number,
  records: Records,
  followed?: readonly Platform[],
): Promise<readonly SourceId[]> {
  const stored = await listSourceIds(sql, shopId, records);
  const followedBy = followed ?? (await listPlatforms(sql, shopId));
  return records.flatMap(({ kind, id }) => {
    const found = stored.find((each) => each.kind === kind && each.id === id);
    if (found) return found;
    const [sourceId] = followedBy.flatMap((platform) => platform.sourceIdOf(kind, id) ?? []);
    return sourceId === undefined ? [] : { kind, id, sourceId };
  });
}

/** The number in a text: the whole of it, or the end of an id as a platform writes it. */
function idsIn(text: string, kind: RecordKind, followed: readonly Platform[]): number[] {
  const id = Number(/\d{1,16}$/.exec(text)?.[0] ?? 0);
  if (id < 1 || !Number.isSafeInteger(id)) return [];
  const isId =
    text === String(id) || followed.some((platform) => platform.sourceIdOf(kind, id) === text);
  return isId ? [id] : [];
}

/** The platforms that a shop is synced with: only then are all of its subscriptions theirs. */
async function listPlatforms(sql: Sql, shopId: number): Promise<Platform[]> {
  const names = new Set((await listFeeds(sql, shopId)).map(({ feed }) => feed));
  return platforms.filter((platform) => names.has(feedsOf(platform).sync));
}
