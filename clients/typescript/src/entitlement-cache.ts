import { RateLimitError, UnavailableError } from './errors.ts';
import type { EntitlementEntry } from './types.ts';

export interface EntitlementCacheOptions {
  /** How old an answer may be, at most. 60 by default. */
  readonly maxAgeSeconds?: number;
  /** How old an answer that a customer is not entitled may be; 5 by default, because they may just be buying. */
  readonly refusalMaxAgeSeconds?: number;
  /** How long an answer holds while the service cannot be reached, unless a paid period lasts longer. 0 by default. */
  readonly graceSeconds?: number;
  /** Customers whose answers are kept; the least recently used go first. 10,000 by default. */
  readonly maxCustomers?: number;
}

/** What entitled a customer when the service was asked. */
interface Grant {
  readonly planId: number;
  readonly isActive: boolean;
  /** Epoch milliseconds; -Infinity if unknown. */
  readonly paidUntil: number;
}

interface Answer {
  readonly grants: readonly Grant[];
  /** When the request was sent, epoch milliseconds: what happened since may not be in it. */
  readonly askedAt: number;
}

/** Asks the service, with retries or without. */
type Load = (
  customerId: number,
  retries: boolean,
) => Promise<{ readonly entries: readonly EntitlementEntry[]; readonly askedAt: number }>;

/** The last answer about each customer, and at most one request per customer at a time. */
export class EntitlementCache {
  readonly #load: Load;
  readonly #maxAgeMs: number;
  readonly #refusalMaxAgeMs: number;
  readonly #graceMs: number;
  readonly #maxCustomers: number;
  /** In the order of their last use. */
  readonly #answers = new Map<number, Answer>();
  readonly #loading = new Map<number, Promise<Answer>>();

  constructor(load: Load, options: EntitlementCacheOptions = {}) {
    this.#load = load;
    this.#maxAgeMs = bound(options, 'maxAgeSeconds', 60) * 1000;
    this.#refusalMaxAgeMs = Math.min(
      bound(options, 'refusalMaxAgeSeconds', 5) * 1000,
      this.#maxAgeMs,
    );
    this.#graceMs = bound(options, 'graceSeconds', 0) * 1000;
    this.#maxCustomers = bound(options, 'maxCustomers', 10_000);
  }

  /**
   * Whether a customer is entitled, through any plan or one of these.
   * @throws UnavailableError, RateLimitError if there is neither an answer nor an earlier one that still holds
   */
  async isEntitled(customerId: number, planIds?: readonly number[]): Promise<boolean> {
    const through = (answer: Answer): readonly Grant[] =>
      answer.grants.filter(({ planId }) => planIds?.includes(planId) ?? true);
    const calledAt = Date.now();
    const known = this.#answers.get(customerId);
    if (known && this.#isFresh(known, through(known), calledAt)) {
      this.#keep(customerId, known);
      return through(known).length > 0;
    }
    const holds = () => {
      const last = this.#answers.get(customerId);
      return last && this.#holds(last, through(last));
    };
    try {
      for (;;) {
        const running = this.#loading.get(customerId);
        // A caller with an answer that holds should not wait for retries.
        const answer = await (running ?? this.#start(customerId, holds() === undefined));
        const grants = through(answer);
        // A request of another caller may have been sent too long before this call.
        if (!running || calledAt - answer.askedAt < this.#maxAge(grants)) return grants.length > 0;
      }
    } catch (error) {
      const isUnavailable = error instanceof UnavailableError || error instanceof RateLimitError;
      const held = isUnavailable ? holds() : undefined;
      if (held === undefined) throw error;
      return held;
    }
  }

  /** Forgets what is known about a customer, for example after a purchase. */
  forget(customerId: number): void {
    this.#answers.delete(customerId);
    // The answer to a request under way may be older than what the caller knows.
    this.#loading.delete(customerId);
  }

  #maxAge(grants: readonly Grant[]): number {
    return grants.length > 0 ? this.#maxAgeMs : this.#refusalMaxAgeMs;
  }

  #isFresh({ askedAt }: Answer, grants: readonly Grant[], now: number): boolean {
    // A clock that was set back must not keep an answer alive.
    if (now < askedAt || now - askedAt >= this.#maxAge(grants)) return false;
    const hasEnded = ({ isActive, paidUntil }: Grant) =>
      !isActive && askedAt < paidUntil && paidUntil <= now;
    return !grants.some(hasEnded);
  }

  /** What an answer says while there is no newer one; undefined if it no longer holds. */
  #holds({ askedAt }: Answer, grants: readonly Grant[]): boolean | undefined {
    const now = Date.now();
    if (grants.some(({ paidUntil }) => now < paidUntil)) return true;
    return askedAt <= now && now - askedAt < this.#graceMs ? grants.length > 0 : undefined;
  }

  #start(customerId: number, retries: boolean): Promise<Answer> {
    const loading = this.#ask(customerId, retries, () => this.#loading.get(customerId) === loading);
    this.#loading.set(customerId, loading);
    return loading;
  }

  async #ask(customerId: number, retries: boolean, isCurrent: () => boolean): Promise<Answer> {
    try {
      const { entries, askedAt } = await this.#load(customerId, retries);
      const answer = { grants: entries.filter((entry) => entry.isEntitled).map(grantOf), askedAt };
      if (isCurrent()) this.#keep(customerId, answer);
      return answer;
    } finally {
      if (isCurrent()) this.#loading.delete(customerId);
    }
  }

  #keep(customerId: number, answer: Answer): void {
    this.#answers.delete(customerId);
    this.#answers.set(customerId, answer);
    if (this.#answers.size <= this.#maxCustomers) return;
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined) this.#answers.delete(oldest);
  }
}

function grantOf({ planId, status, paidThroughAt }: EntitlementEntry): Grant {
  return {
    planId,
    isActive: status === 'active',
    paidUntil: paidThroughAt === null ? -Infinity : Date.parse(paidThroughAt),
  };
}

function bound(
  options: EntitlementCacheOptions,
  name: keyof EntitlementCacheOptions,
  fallback: number,
): number {
  const value = options[name] ?? fallback;
  if (!Number.isFinite(value) || value < 0) {
    throw new TypeError(`cache.${name} must be a number, 0 or more; it is ${String(value)}.`);
  }
  return value;
}
