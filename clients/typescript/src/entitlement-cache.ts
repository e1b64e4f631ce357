import { RateLimitError, UnavailableError } from './errors.ts';
import { type Limits, within } from './request.ts';
import { type EntitlementCacheOptions, numberOption } from './settings.ts';
import type { EntitlementEntry } from './types.ts';

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

/** A request under way, and who waits for it. */
interface Loading {
  readonly answer: Promise<Answer>;
  /** How much time it had. */
  readonly limitMs: number;
  /** Ends it. */
  readonly stopping: AbortController;
  waiters: number;
}

/** Asks the service, with retries or without. */
type Load = (
  customerId: number,
  options: Limits & { readonly retries: boolean },
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
  readonly #loading = new Map<number, Loading>();

  constructor(load: Load, options: EntitlementCacheOptions = {}) {
    this.#load = load;
    const { maxAgeSeconds = 60, refusalMaxAgeSeconds = 5, graceSeconds = 3600 } = options;
    this.#maxAgeMs = numberOption('cache.maxAgeSeconds', maxAgeSeconds) * 1000;
    const refusalMaxAgeMs = numberOption('cache.refusalMaxAgeSeconds', refusalMaxAgeSeconds) * 1000;
    this.#refusalMaxAgeMs = Math.min(refusalMaxAgeMs, this.#maxAgeMs);
    this.#graceMs = numberOption('cache.graceSeconds', graceSeconds) * 1000;
    this.#maxCustomers = numberOption('cache.maxCustomers', options.maxCustomers ?? 10_000);
  }

  /**
   * Whether a customer is entitled, through any plan or one of these.
   * @throws UnavailableError, RateLimitError if there is neither an answer nor an earlier one that still holds
   */
  async isEntitled(
    customerId: number,
    planIds: readonly number[] | undefined,
    limits: Limits,
  ): Promise<boolean> {
    limits.signal?.throwIfAborted();
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
    for (;;) {
      const running = this.#loading.get(customerId);
      try {
        // A caller with an answer that holds should not wait for retries.
        const answer = await (running
          ? this.#wait(customerId, running, limits)
          : this.#start(customerId, holds() === undefined, limits));
        const grants = through(answer);
        // A request of another caller may have been sent too long before this call.
        if (!running || calledAt - answer.askedAt < this.#maxAge(grants)) return grants.length > 0;
      } catch (error) {
        if (!(error instanceof UnavailableError || error instanceof RateLimitError)) throw error;
        const held = holds();
        if (held !== undefined) return held;
        // A request of another caller may have had less time.
        if (!running || limits.endsAt - performance.now() <= running.limitMs) throw error;
      }
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

  #start(customerId: number, retries: boolean, { signal, endsAt }: Limits): Promise<Answer> {
    const stopping = new AbortController();
    const loading: Loading = {
      answer: this.#ask(
        customerId,
        { retries, endsAt, signal: stopping.signal },
        () => this.#loading.get(customerId) === loading,
      ),
      limitMs: endsAt - performance.now(),
      stopping,
      waiters: 0,
    };
    this.#loading.set(customerId, loading);
    // The request itself ends in time.
    return this.#wait(customerId, loading, { signal, endsAt: Infinity });
  }

  /** Waits for a request, which ends when all who waited for it have gone. */
  async #wait(customerId: number, loading: Loading, limits: Limits): Promise<Answer> {
    loading.waiters += 1;
    try {
      return await within(loading.answer, limits);
    } finally {
      loading.waiters -= 1;
      if (loading.waiters === 0) {
        if (this.#loading.get(customerId) === loading) this.#loading.delete(customerId);
        loading.stopping.abort();
      }
    }
  }

  async #ask(
    customerId: number,
    options: Parameters<Load>[1],
    isCurrent: () => boolean,
  ): Promise<Answer> {
    try {
      const { entries, askedAt } = await this.#load(customerId, options);
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
