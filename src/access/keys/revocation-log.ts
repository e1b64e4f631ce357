import type { Log } from '../../log/log.ts';

// A failover can lose the last commits of the database; the log is stored elsewhere. Its fields are named
// as in `keys revoked --json`, so that one script can read both.

interface Revocation {
  readonly shopId: number;
  readonly keyId: string;
  readonly revokedAt: Date;
  readonly cause: 'owner' | 'command line' | 'rotation' | 'uninstall';
}

/** Logs a revoked key; call after the commit. */
export function logRevocation(log: Log, revocation: Revocation): void {
  log.info(revocation, 'key revoked');
}

interface Rotation {
  readonly shopId: number;
  readonly keyId: string;
  /** The id of the new key. */
  readonly replacedBy: string;
  /** When the old key expires. */
  readonly expiresAt: Date;
}

/** Logs a rotated key that stays valid for an overlap; call after the commit. */
export function logRotation(log: Log, rotation: Rotation): void {
  log.info(rotation, 'key rotated');
}
