import type { Clock } from '../../clock.ts';

/** What one unknown key costs its client, in milliseconds: 100 a second are paid off as they come. */
const costMilliseconds = 10;
/** How much a client may owe before its next key is not looked up. */
const mostOwedMilliseconds = 1_000;
const mostClients = 10_000;

/**
 * How many keys that do not exist a client may have looked up: 100 at once, and 100 a second after that.
 * Keys that exist cost nothing.
 */
export class LookupAllowance {
  readonly #clock: Clock;
  /** When each client will have paid off what it owes; those charged last at the end. */
  readonly #paidOffAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many clients are remembered at this moment. */
  get size(): number {
    return this.#paidOffAt.size;
  }

  isUsedUp(client: string): boolean {
    const paidOffAt = this.#paidOffAt.get(client);
    if (paidOffAt === undefined) return false;
    return paidOffAt + costMilliseconds - this.#clock.monotonic() > mostOwedMilliseconds;
  }

  /** One key of this client turned out not to exist. */
  charge(client: string): void {
    const now = this.#clock.monotonic();
    const paidOffAt = Math.max(now, this.#paidOffAt.get(client) ?? now) + costMilliseconds;
    this.#paidOffAt.delete(client);
    this.#paidOffAt.set(client, paidOffAt);
    for (const [oldest, end] of this.#paidOffAt) {
      if (end > now && this.#paidOffAt.size <= mostClients) return;
      this.#paidOffAt.delete(oldest);
    }
  }
}
