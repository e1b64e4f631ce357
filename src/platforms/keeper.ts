import type { RecordType } from '../records/records.ts';
import type { Sql } from '../store/database.ts';
import type { Belonging, Platform } from './platform.ts';
import { platforms } from './registry.ts';
import { findSyncState } from '../store/feeds/platforms.ts';

/** A platform that keeps some types of a shop's records up. */
export interface Keeper extends Belonging {
  readonly platform: Platform;
}

export async function listKeepers(sql: Sql, shopId: number): Promise<readonly Keeper[]> {
  const found = platforms.map(async (platform) => {
    const belonging = await platform.findBelonging(sql, shopId);
    return belonging && belonging.types.length > 0 ? [{ platform, ...belonging }] : [];
  });
  return (await Promise.all(found)).flat();
}

/**
 * Why a record of a shop is not taken from elsewhere; undefined for a type that is.
 * @param advice what to do about it, if anything
 */
export function whyNotTaken(
  keepers: readonly Keeper[],
  shopId: number,
  advice = '; --take-over imports it anyway',
): (type: RecordType) => string | undefined {
  const reasons = new Map(
    keepers.flatMap((keeper) => {
      const reason = `shop ${describe(keeper, shopId)}${advice}`;
      return keeper.types.map((type) => [type, reason] as const);
    }),
  );
  return (type) => reasons.get(type);
}

/** Why no record of a type is taken from a platform: another one keeps these up. */
export async function findWhyNotTaken(sql: Sql, shopId: number, from: Platform) {
  const others = (await listKeepers(sql, shopId)).filter(({ platform }) => platform !== from);
  return whyNotTaken(others, shopId, '');
}

/** Why nothing of a whole export file of that platform is taken. */
export function whyFileNotTaken(keeper: Keeper, shopId: number): string {
  return `Shop ${describe(keeper, shopId)}, so nothing was imported. --take-over imports the file anyway. ${warningOf(keeper)}`;
}

/** What happens to records that are imported anyway. */
export function warningOf({ platform, account }: Keeper): string {
  return `The next full sync with ${platform.title} deletes the plans and subscriptions that ${account} does not have, and replaces the others; payments and refunds that you add to those stay.`;
}

function describe({ platform: { title }, account, types }: Keeper, shopId: number): string {
  return `${shopId} belongs to ${account}: its ${namesOf(types)} come from ${title}`;
}

/** Types of records as a list in words. */
export function namesOf(types: readonly RecordType[]): string {
  return new Intl.ListFormat('en-GB').format(types.map((type) => `${type}s`));
}

/** Why data from a platform does not arrive. */
export interface SyncProblem {
  readonly platform: Platform;
  /** refused: the platform does not accept the credentials; paused: it told us to stop; failing: it may succeed later. */
  readonly kind: 'refused' | 'paused' | 'failing';
  /** For refused credentials. */
  readonly since: Date | null;
}

/** @param sql a connection that may read the schema `platforms`; the login that serves requests may not */
export async function listSyncProblems(sql: Sql, shopId: number): Promise<SyncProblem[]> {
  const found = platforms.map(async (platform): Promise<SyncProblem[]> => {
    const state = await findSyncState(sql, shopId, platform.name);
    if (!state || state.problem === null) return [];
    const { refusedAt: since, failures } = state;
    const kind = since !== null ? 'refused' : failures === 0 ? 'paused' : 'failing';
    return [{ platform, kind, since }];
  });
  return (await Promise.all(found)).flat();
}
