import type { Log } from '../../log.ts';

// A failover can lose the last commits of the database, and its tables with them. The log is kept elsewhere.
// Fields are named as in `keys revoked --json`, so that one script reads both.

interface Revocation {
  readonly shopId: number;
  readonly keyId: string;
  readonly revokedAt: Date;
  readonly cause: 'owner' | 'command line' | 'rotation' | 'uninstall';
}

/** Logs a key that is revoked, once that is committed. */
export function logRevocation(log: Log, revocation: Revocation): void {
  log.info(revocation, 'key revoked');
}

interface Rotation {
  readonly shopId: number;
  readonly keyId: string;
  /** The id of the new key. */
  readonly replacedBy: string;
  /** When the old key ends. */
  readonly expiresAt: Date;
}

/** Logs a key that goes on for a while beside the one that replaces it, once that is committed. */
export function logRotation(log: Log, rotation: Rotation): void {
  log.info(rotation, 'key rotated');
}
