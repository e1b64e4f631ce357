import { RateLimitError, UnavailableError } from './errors.ts';
import type { EntitlementEntry } from './types.ts';

export interface EntitlementCacheOptions {
  /** How old an answer may be, at most. 60 by default. */
  readonly maxAgeSeconds?: number;
  /** How old an answer that a customer is not entitled may be; 5 by default, because they may just be buying. */
  readonly refusalMaxAgeSeconds?: number;
  /** How long an answer counts while the service cannot be reached, unless a paid period lasts longer. 0 by default. */
  readonly graceSeconds?: number;
  /** Customers whose answers are kept; those not asked about for the longest time go first. 10,000 by default. */
  readonly maxCustomers?: number;
}

interface Answer {
  readonly entries: readonly EntitlementEntry[];
  /** When it was asked for, epoch milliseconds: what happened since may not be in it. */
  readonly at: number;
}

type Load = (customerId: number) => Promise<readonly EntitlementEntry[]>;

/** What was last answered about customers, and one request at a time for each. */
export class EntitlementCache {
  readonly #load: Load;
  readonly #now: () => number;
  readonly #maxAgeMs: number;
  readonly #refusalMaxAgeMs: number;
  readonly #graceMs: number;
  readonly #maxCustomers: number;
  /** In the order of their last use. */
  readonly #answers = new Map<number, Answer>();
  readonly #loading = new Map<number, Promise<Answer>>();

  constructor(load: Load, options: EntitlementCacheOptions = {}, now: () => number = Date.now) {
    this.#load = load;
    this.#now = now;
    this.#maxAgeMs = secondsOf(options, 'maxAgeSeconds', 60) * 1000;
    this.#refusalMaxAgeMs = Math.min(
      secondsOf(options, 'refusalMaxAgeSeconds', 5) * 1000,
      this.#maxAgeMs,
    );
    this.#graceMs = secondsOf(options, 'graceSeconds', 0) * 1000;
    this.#maxCustomers = options.maxCustomers ?? 10_000;
  }

  /**
   * The entries that entitle a customer now.
   * @throws UnavailableError, RateLimitError if there is neither an answer nor an earlier one that still counts
   */
  async entitlingEntries(customerId: number): Promise<EntitlementEntry[]> {
    const known = this.#answers.get(customerId);
    if (known && this.#isFresh(known)) {
      this.#keep(customerId, known);
      return this.#entitling(known);
    }
    try {
      return this.#entitling(await this.#loadOnce(customerId));
    } catch (error) {
      const isUnavailable = error instanceof UnavailableError || error instanceof RateLimitError;
      // It may have been replaced meanwhile.
      const earlier = this.#answers.get(customerId);
      if (!isUnavailable || !earlier) throw error;
      const stillPaid = earlier.entries.filter((entry) => this.#isPaid(entry));
      if (stillPaid.length > 0) return stillPaid;
      if (this.#now() - earlier.at < this.#graceMs) return this.#entitling(earlier);
      throw error;
    }
  }

  /** Forgets what is known about a customer, for example after a purchase. */
  forget(customerId: number): void {
    this.#answers.delete(customerId);
    // An answer under way may be older than what the caller knows.
    this.#loading.delete(customerId);
  }

  #isFresh(answer: Answer): boolean {
    const isEntitled = this.#entitling(answer).length > 0;
    const age = this.#now() - answer.at;
    // A clock that was set back must not keep an answer alive.
    return age >= 0 && age < (isEntitled ? this.#maxAgeMs : this.#refusalMaxAgeMs);
  }

  /** An entry that entitled by a paid period alone does so no longer than that period. */
  #entitling({ entries }: Answer): EntitlementEntry[] {
    return entries.filter(
      (entry) => entry.isEntitled && (entry.status === 'active' || this.#isPaid(entry)),
    );
  }

  #isPaid({ isEntitled, paidThroughAt }: EntitlementEntry): boolean {
    return isEntitled && paidThroughAt !== null && this.#now() < Date.parse(paidThroughAt);
  }

  #loadOnce(customerId: number): Promise<Answer> {
    const running = this.#loading.get(customerId);
    if (running) return running;
    const loading = this.#loadAnswer(customerId, () => this.#loading.get(customerId) === loading);
    this.#loading.set(customerId, loading);
    return loading;
  }

  async #loadAnswer(customerId: number, isCurrent: () => boolean): Promise<Answer> {
    const at = this.#now();
    try {
      const answer = { entries: await this.#load(customerId), at };
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

function secondsOf(
  options: EntitlementCacheOptions,
  name: 'maxAgeSeconds' | 'refusalMaxAgeSeconds' | 'graceSeconds',
  fallback: number,
): number {
  const value = options[name] ?? fallback;
  if (!Number.isFinite(value) || value < 0) {
    throw new TypeError(`${name} must be a number of seconds, 0 or more; it is ${String(value)}.`);
  }
  return value;
}
