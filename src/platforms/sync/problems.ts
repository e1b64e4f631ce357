import type { Sql } from '../../store/database.ts';
import { findSyncState } from '../../store/feeds/platforms.ts';
import type { Platform } from '../platform.ts';
import { platforms } from '../registry.ts';

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
