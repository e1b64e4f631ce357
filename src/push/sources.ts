import { randomBytes } from 'node:crypto';
import { type SecretKind, enter, secretIds } from '../access/secrets.ts';
import { Sealing } from '../platforms/credentials/sealing.ts';
import type { Sql } from '../store/database.ts';
import {
  type PushSource,
  insertPushSource,
  listLivePushSources,
  replaceSealedSecrets,
  updatePushSecret,
  updateRevokedPushSource,
} from '../store/push/sources.ts';
import { type SchemeName, makeSecret } from './signature.ts';

interface Sealed {
  readonly sealing: Sealing;
  /** The secret that a vendor signs with; otherwise one is made. */
  readonly given?: string | undefined;
}

interface NewSource extends Sealed {
  readonly name: string;
  /** How it signs: by Standard Webhooks, or as a vendor does. */
  readonly scheme?: SchemeName | undefined;
}

interface SourceRenewal extends Sealed {
  readonly overlapMilliseconds: number;
  /** The end of the last overlap, null for none, if only a source that was not rotated since then is. */
  readonly before?: Date | null | undefined;
}

/**
 * Rotating a source replaces its secret in place. An earlier one that is still accepted ends: callers say so before
 * (`overlapUntil`). What a revoked source has pushed before is still stored.
 */
export const pushSources: SecretKind<NewSource, SourceRenewal> = {
  ...secretIds('src', 12),

  async insert(tx, change, { name, scheme = 'standard', given, sealing }) {
    const { shopId, id: sourceId, at: createdAt } = change;
    const secret = given ?? newSecret();
    const createdBy = change.actor.who;
    const isNew = await insertPushSource(tx, {
      shopId,
      sourceId,
      name,
      scheme,
      createdBy,
      createdAt,
      secret: sealing.seal(secret, contextOf({ shopId, sourceId })),
    });
    if (!isNew) return 'already';
    await enter(tx, change, 'source_created', name);
    return { secret, line: [{ shopId, source: sourceId, by: createdBy }, 'push source created'] };
  },

  async replace(tx, change, { given, sealing, overlapMilliseconds, before }) {
    const { shopId, id: sourceId, at } = change;
    const source = { shopId, sourceId };
    const secret = given ?? newSecret();
    const until = new Date(at.getTime() + overlapMilliseconds);
    const sealed = sealing.seal(secret, contextOf(source));
    const name = await updatePushSecret(tx, source, sealed, { until, before });
    if (name === undefined) return before === undefined ? 'ended' : 'already';
    await enter(tx, change, 'source_rotated', name);
    return { secret, line: [{ ...source, until }, 'push source rotated'] };
  },

  async revoke(tx, change) {
    const { shopId, id: sourceId, at } = change;
    const source = { shopId, sourceId };
    const found = await updateRevokedPushSource(tx, source, at);
    if (!found) return undefined;
    if (found.wasLive) await enter(tx, change, 'source_revoked', found.name);
    return [source, 'push source revoked'];
  },
};

const newSecret = () => makeSecret(randomBytes(32));

/** Whether a text can be the secret that a vendor shows. */
export function isVendorSecret(text: string): boolean {
  return /^\S{8,500}$/.test(text);
}

/** How signing secrets are stored: encrypted, or as they are without CREDENTIALS_KEY. */
export function secretSealing(keys: readonly Buffer[]): Sealing {
  return new Sealing(keys, { allowsPlain: true });
}

/** What a source's sealed secrets belong to. */
export const contextOf = ({ shopId, sourceId }: Pick<PushSource, 'shopId' | 'sourceId'>) =>
  `push source ${sourceId} of shop ${shopId}`;

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
