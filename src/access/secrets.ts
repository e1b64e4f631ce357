import { randomBytes } from 'node:crypto';
import type { Act, Actor } from '../acts.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { appendEntry } from '../store/owners/audit.ts';
import { requireSynchronousCommit } from '../store/failover.ts';
import { type Shop, findShop } from '../store/shops.ts';
import type { Tier } from '../vocabulary.ts';
import { tiers } from './tiers.ts';

/*
 * The lifecycle of a secret: it is created, shown once, rotated with an overlap, and revoked. API keys (keys/keys.ts)
 * and push sources (push/sources.ts) are its two kinds.
 */

/** Which secret of a shop, and who changes it. */
export interface Target {
  readonly shopId: number;
  /** A new secret's id is chosen by the caller, so that a repeated request creates only one. */
  readonly id: string;
  readonly actor: Actor;
}

export type Change = Target & { readonly at: Date };
/** That makes a secret. */
type Making = Change & { readonly shop: Shop };

/** Adds to the audit log what was done to a secret. @param detail as `deedOf` knows it */
export function enter(
  tx: Transaction,
  { shopId, id, actor, at }: Change,
  what: Act,
  name: string,
  detail = '',
): Promise<void> {
  return appendEntry(tx, shopId, { at, by: actor, what, target: `${id} ${name}${detail}` });
}

/** What the process logs once the change is committed. */
type LogLine = readonly [fields: object, message: string];
/**
 * A new secret, or why there is none: already if it exists or was rotated before, ended if there is none to rotate,
 * outlives if it would work for longer than the shop allows.
 */
type Stored =
  | { readonly secret: string; readonly line?: LogLine }
  | 'already'
  | 'ended'
  | 'outlives';

/** What one kind of secret stores and logs. */
export interface SecretKind<Given, Renewal> {
  newId(): string;
  isId(text: string): boolean;
  insert(tx: Transaction, change: Making, given: Given): Promise<Stored>;
  replace(tx: Transaction, change: Making, renewal: Renewal): Promise<Stored>;
  /** Changes nothing if it is revoked already. @returns undefined if the shop has no such secret */
  revoke(tx: Transaction, change: Change): Promise<LogLine | undefined>;
}

/** Ids such as key_0123456789abcdef. */
export function secretIds(prefix: string, bytes: number) {
  const pattern = new RegExp(`^${prefix}_[0-9a-f]{${2 * bytes}}$`);
  return {
    newId: () => `${prefix}_${randomBytes(bytes).toString('hex')}`,
    isId: (text: string) => pattern.test(text),
  };
}

export interface SecretParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  /** Shows a new secret. If that fails, nothing is stored. */
  readonly show?: (secret: string) => Promise<void>;
}

export type Made =
  | { readonly kind: 'created'; readonly secret: string }
  /** The shop's tier has no API access. */
  | { readonly kind: 'locked'; readonly tier: Tier }
  | { readonly kind: 'already' | 'ended' | 'outlives' };

export function createSecret<Given>(
  kind: SecretKind<Given, never>,
  parts: SecretParts,
  target: Target,
  given: Given,
): Promise<Made> {
  return make(parts, target, (tx, change) => kind.insert(tx, change, given));
}

/**
 * Makes a new secret, and lets the old one end after an overlap. Instances may accept an old key for up to
 * `leaseDrainMilliseconds` more.
 */
export function rotateSecret<Renewal>(
  kind: SecretKind<never, Renewal>,
  parts: SecretParts,
  target: Target,
  renewal: Renewal,
): Promise<Made> {
  return make(parts, target, async (tx, change) => {
    await requireSynchronousCommit(tx);
    return kind.replace(tx, change, renewal);
  });
}

/** Stores a new secret and shows it, if the shop's tier has API access. */
async function make(
  { sql, clock, log, show }: SecretParts,
  target: Target,
  store: (tx: Transaction, change: Making) => Promise<Stored>,
): Promise<Made> {
  const at = new Date(clock.now());
  const made = await sql.begin(async (tx) => {
    const shop = await findShop(tx, target.shopId);
    if (!shop) throw new Error(`Shop ${target.shopId} does not exist.`);
    const { tier } = shop;
    if (!tiers[tier].hasApiAccess) return { kind: 'locked', tier } as const;
    const stored = await store(tx, { ...target, at, shop });
    if (typeof stored === 'string') return { kind: stored };
    await show?.(stored.secret);
    return { kind: 'created', ...stored } as const;
  });
  if (made.kind !== 'created') return made;
  if (made.line) log.info(...made.line);
  return { kind: 'created', secret: made.secret };
}

/**
 * Revokes a secret. Every instance is certain to refuse a key only `leaseDrainMilliseconds` later.
 * @returns false if the shop has no such secret
 */
export async function revokeSecret(
  kind: Pick<SecretKind<never, never>, 'revoke'>,
  { sql, clock, log }: SecretParts,
  target: Target,
): Promise<boolean> {
  const change = { ...target, at: new Date(clock.now()) };
  const line = await sql.begin(async (tx) => {
    // Also for a secret that is already revoked: the first attempt may have been interrupted while it waited.
    await requireSynchronousCommit(tx);
    return kind.revoke(tx, change);
  });
  if (line) log.info(...line);
  return line !== undefined;
}
