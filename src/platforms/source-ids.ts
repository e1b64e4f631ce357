import { deriveCustomerId, deriveId, isCustomersAddress } from '../ingest/source-ids.ts';
import type { Sql } from '../store/database.ts';
import { listFeeds } from '../store/feeds/feeds.ts';
import { type SourceId, listSourceIds } from '../store/records/source-ids.ts';
import { findCustomerKey } from '../store/records/customer-keys.ts';
import { type RecordKind, findMissing } from '../store/records/export-dates.ts';
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

/** The known source ids of some of a shop's records. */
export async function listKnownSourceIds(
  sql: Sql,
  shopId: number,
  records: readonly Pick<SourceId, 'kind' | 'id'>[],
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
