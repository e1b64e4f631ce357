import type { Clock } from '../../clock.ts';

/** The debt for one unknown secret; a client pays off 100 per second. */
const costMilliseconds = 10;
/** Maximum debt; above it, a client's secrets are not looked up. */
const maxDebtMilliseconds = 1_000;
const maxClients = 10_000;

/**
 * Limits how many unknown secrets, such as API keys, a client may have looked up: a burst of 100, then 100 per second.
 * Those that exist cost nothing.
 */
export class LookupAllowance {
  readonly #clock: Clock;
  /** When each client's debt will be paid off; most recently charged last. */
  readonly #paidOffAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of remembered clients. */
  get size(): number {
    return this.#paidOffAt.size;
  }

  isUsedUp(client: string): boolean {
    const paidOffAt = this.#paidOffAt.get(client);
    if (paidOffAt === undefined) return false;
    return paidOffAt + costMilliseconds - this.#clock.monotonic() > maxDebtMilliseconds;
  }

  /** Charges a client for a secret that does not exist. */
  charge(client: string): void {
    const now = this.#clock.monotonic();
    const paidOffAt = Math.max(now, this.#paidOffAt.get(client) ?? now) + costMilliseconds;
    this.#paidOffAt.delete(client);
    this.#paidOffAt.set(client, paidOffAt);
    for (const [oldest, end] of this.#paidOffAt) {
      if (end > now && this.#paidOffAt.size <= maxClients) return;
      this.#paidOffAt.delete(oldest);
    }
  }
}
