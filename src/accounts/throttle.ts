import type { Clock } from '../clock.ts';
import {
  type AttemptSource,
  type FailureCounts,
  clearAttempts,
  countAttempts,
  insertAttempt,
  lockAttempts,
  deleteAttemptsBefore,
  addDeviceFailure,
  removeDeviceFailure,
  deleteDevicesBefore,
} from '../store/owners/sign-in.ts';
import type { Sql } from '../store/database.ts';
import { Periodic } from '../store/periodic.ts';
import {
  type Accounts,
  findBySecret,
  fingerprint,
  maxDeviceFailures,
  oldestDevice,
} from './sessions.ts';
import { appSealing, resealApps } from './factors/codes.ts';
import { deleteChallengesBefore } from '../store/owners/factors.ts';
import { resealProviders } from './sso/providers.ts';
import type { Log } from '../log/log.ts';

/** When attempts are delayed, and how long. */
interface Rule {
  /** How long an attempt counts. */
  readonly hours: number;
  /** Attempts before delays start. */
  readonly free: Readonly<Partial<Record<keyof FailureCounts, number>>>;
  /** @param further how many attempts there were beyond the free ones */
  delaySeconds(further: number): number;
}

const signInRule: Rule = {
  hours: 24,
  /**
   * Failures on an account from one address, on an account from all addresses without a known browser, and from one
   * address on all accounts, since many people may share an address.
   */
  free: { pair: 5, account: 20, address: 50 },
  /** The delay doubles with each further failure. */
  delaySeconds: (further) => Math.min(10 * 2 ** further, 15 * 60),
};

/** Mail that somebody can have sent to an address within an hour: to it, and from one network or shop. */
const mailRule: Rule = {
  hours: 1,
  free: { account: 3, address: 20 },
  delaySeconds: () => 3600,
};

/** An attempt that counts as failed unless `succeed` is called. */
export interface Attempt {
  readonly kind: 'admitted';
  /** How long the next attempt must wait if this one fails. */
  readonly nextWaitSeconds: number;
  succeed(): Promise<void>;
}

export interface Throttled {
  readonly kind: 'throttled';
  readonly waitSeconds: number;
}

/** Whether the owner with an address has signed in with a browser. @param address the client's network */
export async function knowsDevice(
  { devices }: Accounts,
  {
    email,
    device,
    address,
  }: { readonly email: string; readonly device: string; readonly address: string },
): Promise<boolean> {
  return (await findBySecret(devices, device, address))?.includes(email) === true;
}

/**
 * Admits an attempt in a browser that is known to the account, which is never delayed. After ten wrong passwords it
 * counts as unknown.
 */
export async function admitDevice(
  sql: Sql,
  clock: Clock,
  { email, device }: { readonly email: string; readonly device: string },
): Promise<Attempt | undefined> {
  const known = { tokenHash: fingerprint(device), email };
  const bounds = { signedInAfter: oldestDevice(clock), maxFailures: maxDeviceFailures };
  if (!(await addDeviceFailure(sql, known, bounds))) return undefined;
  // Remembering the browser again resets its failures.
  const succeed = () => removeDeviceFailure(sql, known);
  return { kind: 'admitted', nextWaitSeconds: 0, succeed };
}

/**
 * Admits an attempt in an unknown browser, or returns how long to wait. The attempt is stored as failed before the
 * password is checked, and attempts on the same account or address are processed one at a time.
 */
export async function admitStranger(
  sql: Sql,
  clock: Clock,
  { email, address }: { readonly email: string; readonly address: string },
): Promise<Attempt | Throttled> {
  const source: AttemptSource = {
    account: fingerprint(`account ${email}`),
    address: fingerprint(`address ${address}`),
  };
  const { waitSeconds, nextWaitSeconds } = await admit(sql, clock.now(), source, signInRule);
  return waitSeconds > 0
    ? { kind: 'throttled', waitSeconds }
    : { kind: 'admitted', nextWaitSeconds, succeed: () => clearAttempts(sql, source) };
}

/**
 * Admits mail to an address, whether or not there is an account.
 * @param from who has it sent: a network, or a shop
 * @returns after how many seconds one is admitted at the latest; 0 if this one is
 */
export async function admitMail(
  sql: Sql,
  clock: Clock,
  { email, from }: { readonly email: string; readonly from: string },
): Promise<number> {
  const source: AttemptSource = {
    account: fingerprint(`mail to ${email}`),
    address: fingerprint(`mail from ${from}`),
  };
  return (await admit(sql, clock.now(), source, mailRule)).waitSeconds;
}

/** Stores an attempt, unless there is a wait. Those of the same account or address are processed one at a time. */
function admit(sql: Sql, now: number, source: AttemptSource, rule: Rule) {
  return sql.begin(async (tx) => {
    await lockAttempts(tx, source);
    const counts = await countAttempts(tx, source, new Date(now - rule.hours * 3_600_000));
    const waitSeconds = waitOf(rule, counts, now);
    if (waitSeconds > 0) return { waitSeconds, nextWaitSeconds: waitSeconds };
    await insertAttempt(tx, source, new Date(now));
    const oneMore = ({ count }: { readonly count: number }) => ({
      count: count + 1,
      lastAt: new Date(now),
    });
    const { pair, account, address } = counts;
    const next = { pair: oneMore(pair), account: oneMore(account), address: oneMore(address) };
    return { waitSeconds, nextWaitSeconds: waitOf(rule, next, now) };
  });
}

/** Whole seconds until the next attempt is admitted; 0 if it may start now. */
function waitOf({ free: limits, delaySeconds }: Rule, counts: FailureCounts, now: number): number {
  const waits = Object.entries(limits).map(([name, free]) => {
    const { count, lastAt } = counts[name as keyof FailureCounts];
    if (count < free || !lastAt) return 0;
    return Math.ceil((lastAt.getTime() + delaySeconds(count - free) * 1000 - now) / 1000);
  });
  return Math.max(0, ...waits);
}

/**
 * Deletes expired sign-in attempts, challenges and browsers, and encrypts secrets with the current key, at start and
 * every hour.
 */
export function sweepSignIns(
  { sql, clock, sso }: Accounts,
  credentialsKeys: readonly Buffer[],
  log: Log,
): Periodic {
  const sweep = async () => {
    await deleteChallengesBefore(sql, new Date(clock.now()));
    await deleteAttemptsBefore(sql, new Date(clock.now() - signInRule.hours * 3_600_000));
    await deleteDevicesBefore(sql, oldestDevice(clock));
    await resealApps(sql, appSealing(credentialsKeys));
    await resealProviders(sql, sso.sealing);
  };
  const hourly = { everyMilliseconds: 3_600_000 };
  return new Periodic(hourly, sweep, log, 'could not delete expired sign-in attempts');
}
