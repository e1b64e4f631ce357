import { randomBytes } from 'node:crypto';
import { tiers } from '../access/tiers.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import { Sealing } from '../platforms/credentials/sealing.ts';
import type { Sql } from '../store/database.ts';
import {
  type PushSource,
  insertPushSource,
  listLivePushSources,
  replaceSealedSecrets,
  updatePushSecret,
  updateRevokedPushSource,
} from '../store/door/sources.ts';
import { requireSynchronousCommit } from '../store/failover.ts';
import { findShop } from '../store/shops.ts';
import type { Tier } from '../vocabulary.ts';
import type { SchemeName } from './schemes.ts';
import { makeSecret } from './signature.ts';

/** Who creates, rotates or revokes a source: an owner, or the command line. */
type Actor = { readonly ownerId: string } | 'command line';

interface SourceParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly sealing: Sealing;
  /** Shows a new secret. If that fails, nothing is stored. */
  readonly show?: (secret: string) => Promise<void>;
}

type SourceKey = Pick<PushSource, 'shopId' | 'sourceId'>;

export interface Secret {
  readonly kind: 'created';
  /** Shown once. */
  readonly secret: string;
}

type NoSecret =
  /** The shop's tier has no API access. */
  | { readonly kind: 'locked'; readonly tier: Tier }
  /** The id is taken. */
  | { readonly kind: 'already' }
  /** The shop has no such source, or it is revoked. */
  | { readonly kind: 'missing' };

/** A sender of webhooks with a scheme and a secret of its own. */
export interface Vendor {
  readonly scheme: SchemeName;
  readonly secret: string;
}

const keyBytes = 32;

export function newSourceId(): string {
  return `src_${randomBytes(12).toString('hex')}`;
}

export function isSourceId(text: string): boolean {
  return /^src_[0-9a-f]{24}$/.test(text);
}

/** Whether a text can be the secret that a vendor shows. */
export function isVendorSecret(text: string): boolean {
  return /^\S{8,500}$/.test(text);
}

const contextOf = ({ shopId, sourceId }: SourceKey) => `push source ${sourceId} of shop ${shopId}`;

/** How signing secrets are stored: encrypted, or as they are without CREDENTIALS_KEY. */
export function secretSealing(keys: readonly Buffer[]): Sealing {
  return new Sealing(keys, { allowsPlain: true });
}

/**
 * Creates a source.
 * @param sourceId chosen by the caller, so that a repeated request creates only one
 */
export async function createPushSource(
  parts: SourceParts,
  shopId: number,
  actor: Actor,
  { name, sourceId, vendor }: Pick<PushSource, 'name' | 'sourceId'> & { readonly vendor?: Vendor },
): Promise<Secret | NoSecret> {
  const { sql, clock, log, sealing, show } = parts;
  const secret = vendor?.secret ?? makeSecret(randomBytes(keyBytes));
  const source = {
    shopId,
    sourceId,
    name,
    scheme: vendor?.scheme ?? 'standard',
    createdBy: actor === 'command line' ? actor : `owner ${actor.ownerId}`,
    createdAt: new Date(clock.now()),
    secret: sealing.seal(secret, contextOf({ shopId, sourceId })),
  };
  return sql.begin(async (tx) => {
    const tier = await findTier(tx, shopId);
    if (!tiers[tier].hasApiAccess) return { kind: 'locked', tier };
    if (!(await insertPushSource(tx, source))) return { kind: 'already' };
    await show?.(secret);
    log.info({ shopId, source: sourceId, by: source.createdBy }, 'push source created');
    return { kind: 'created', secret };
  });
}

/**
 * Replaces the secret of a source. An earlier one that is still accepted ends: callers say so before
 * (`overlapUntil`).
 * @param overlapMilliseconds how long the old secret is accepted beside the new one
 * @param given the secret that a vendor signs with from now on; otherwise one is made
 */
export async function rotatePushSource(
  parts: SourceParts,
  source: SourceKey,
  overlapMilliseconds: number,
  given?: string,
): Promise<Secret | NoSecret> {
  const { sql, clock, log, sealing, show } = parts;
  const secret = given ?? makeSecret(randomBytes(keyBytes));
  const sealed = sealing.seal(secret, contextOf(source));
  const until = new Date(clock.now() + overlapMilliseconds);
  return sql.begin(async (tx) => {
    const tier = await findTier(tx, source.shopId);
    if (!tiers[tier].hasApiAccess) return { kind: 'locked', tier };
    await requireSynchronousCommit(tx);
    if (!(await updatePushSecret(tx, source, sealed, until))) return { kind: 'missing' };
    await show?.(secret);
    log.info({ ...source, until }, 'push source rotated');
    return { kind: 'created', secret };
  });
}

/**
 * Revokes a source: requests that begin afterwards are refused. What it has pushed before is still stored.
 * @returns false if the shop has no such source
 */
export async function revokePushSource(
  { sql, clock, log }: Pick<SourceParts, 'sql' | 'clock' | 'log'>,
  source: SourceKey,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await requireSynchronousCommit(tx);
    const isKnown = await updateRevokedPushSource(tx, source, new Date(clock.now()));
    if (isKnown) log.info({ ...source }, 'push source revoked');
    return isKnown;
  });
}

async function findTier(tx: Parameters<typeof findShop>[0], shopId: number): Promise<Tier> {
  const shop = await findShop(tx, shopId);
  if (!shop) throw new Error(`Shop ${shopId} does not exist.`);
  return shop.tier;
}

/** Until when the secret before the last rotation is accepted; undefined if it no longer is. */
export function overlapUntil(
  { previousUntil }: Pick<PushSource, 'previousUntil'>,
  now: number,
): Date | undefined {
  return previousUntil !== null && now < previousUntil.getTime() ? previousUntil : undefined;
}

/** The secrets with which a source may sign now, as they are stored; none for a revoked one. */
function storedSecrets(source: PushSource, now: number) {
  const previous = overlapUntil(source, now) ? source.previousSecret : null;
  return [source.secret, previous].filter((each) => each !== null);
}

/**
 * The secrets with which a source may sign now; none for a revoked one.
 * @param now epoch milliseconds
 * @returns the problem, too, if one of them cannot be decrypted
 */
export function secretsOf(source: PushSource, sealing: Sealing, now: number) {
  const secrets: string[] = [];
  let problem: unknown;
  for (const stored of storedSecrets(source, now)) {
    try {
      secrets.push(sealing.open(stored, contextOf(source)));
    } catch (error) {
      problem = error;
    }
  }
  return { secrets, problem };
}

/** The sources with secrets that cannot be decrypted, because the key is missing or they are damaged, and with plain ones. */
export function examineSources(sources: readonly PushSource[], sealing: Sealing, now: number) {
  const someSecret = (test: (stored: string, context: string) => boolean) =>
    sources.filter((source) =>
      storedSecrets(source, now).some((stored) => test(stored, contextOf(source))),
    );
  return {
    unreadable: someSecret((stored, context) => !sealing.canOpen(stored, context)),
    plain: someSecret((stored) => sealing.isPlain(stored)),
  };
}

/** Encrypts secrets that are plain, or were encrypted with an older key. @returns how many sources' */
export async function resealSources(sql: Sql, sealing: Sealing): Promise<number> {
  let count = 0;
  for (const source of await listLivePushSources(sql)) {
    const again = (stored: string | null) => stored && sealing.reseal(stored, contextOf(source));
    const [secret, previousSecret] = [again(source.secret), again(source.previousSecret)];
    if (secret === source.secret && previousSecret === source.previousSecret) continue;
    await replaceSealedSecrets(sql, source, { secret, previousSecret });
    count += 1;
  }
  return count;
}
