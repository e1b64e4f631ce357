import type { Clock } from '../clock.ts';
import {
  type AttemptSource,
  type FailureCounts,
  clearAttempts,
  countAttempts,
  deleteAttempt,
  insertAttempt,
  lockAttempts,
} from '../store/owners/attempts.ts';
import type { Sql } from '../store/database.ts';
import { addDeviceFailure, removeDeviceFailure } from '../store/owners/devices.ts';
import { maxDeviceFailures, oldestDevice } from './devices.ts';
import { fingerprint } from './secrets.ts';

/** How long a failed attempt counts. */
export const attemptHours = 24;
/**
 * Failures before delays start: on an account from one address, on an account from all addresses without a
 * known browser, and from one address on all accounts, since many people may share an address.
 */
const freeFailures: Readonly<Record<keyof FailureCounts, number>> = {
  pair: 5,
  account: 20,
  address: 50,
};
/** The delay doubles with each further failure. */
const delaySeconds = { first: 10, max: 15 * 60 } as const;

/** An attempt that counts as failed unless `succeed` or `withdraw` is called. */
interface Attempt {
  readonly kind: 'admitted';
  succeed(): Promise<void>;
  /** The password was not checked. */
  withdraw(): Promise<void>;
}

export interface Throttled {
  readonly kind: 'throttled';
  readonly waitSeconds: number;
}

/**
 * Admits a sign-in attempt, or returns how long to wait. The attempt is stored as failed before the password
 * is checked, and attempts on the same account or address are processed one at a time.
 */
export async function admitAttempt(
  sql: Sql,
  clock: Clock,
  credentials: {
    readonly email: string;
    readonly address: string;
    readonly device: string | undefined;
  },
): Promise<Attempt | Throttled> {
  return (await admitDevice(sql, clock, credentials)) ?? admitUnknown(sql, clock, credentials);
}

/** A known browser is never delayed; after ten wrong passwords it counts as unknown. */
async function admitDevice(
  sql: Sql,
  clock: Clock,
  { email, device }: { readonly email: string; readonly device: string | undefined },
): Promise<Attempt | undefined> {
  if (device === undefined) return undefined;
  const known = { tokenHash: fingerprint(device), email };
  const bounds = { signedInAfter: oldestDevice(clock), maxFailures: maxDeviceFailures };
  if (!(await addDeviceFailure(sql, known, bounds))) return undefined;
  const withdraw = () => removeDeviceFailure(sql, known);
  // Remembering the browser again resets its failures.
  return { kind: 'admitted', succeed: withdraw, withdraw };
}

async function admitUnknown(
  sql: Sql,
  clock: Clock,
  { email, address }: { readonly email: string; readonly address: string },
): Promise<Attempt | Throttled> {
  const source: AttemptSource = {
    account: fingerprint(`account ${email}`),
    address: fingerprint(`address ${address}`),
  };
  const now = clock.now();
  const admitted = await sql.begin(async (tx) => {
    await lockAttempts(tx, source);
    const counts = await countAttempts(tx, source, new Date(now - attemptHours * 3_600_000));
    const waitSeconds = waitOf(counts, now);
    return waitSeconds > 0
      ? { waitSeconds }
      : { id: await insertAttempt(tx, source, new Date(now)) };
  });
  if ('waitSeconds' in admitted) return { kind: 'throttled', waitSeconds: admitted.waitSeconds };
  return {
    kind: 'admitted',
    succeed: () => clearAttempts(sql, source),
    withdraw: () => deleteAttempt(sql, admitted.id),
  };
}

/** Whole seconds until the next attempt is admitted; 0 if it may start now. */
function waitOf(counts: FailureCounts, now: number): number {
  const waits = Object.entries(freeFailures).map(([name, free]) => {
    const { count, lastAt } = counts[name as keyof FailureCounts];
    if (count < free || !lastAt) return 0;
    const delay = Math.min(delaySeconds.first * 2 ** (count - free), delaySeconds.max);
    return Math.ceil((lastAt.getTime() + delay * 1000 - now) / 1000);
  });
  return Math.max(0, ...waits);
}
