import type { Log } from '../../../log/log.ts';
import { PlatformError } from '../../errors.ts';
import { jittered } from '../../backoff.ts';
import type { RetryableError } from './answer.ts';

const maxFailures = 6;
const maxThrottled = 20;
const maxPauseMilliseconds = 300_000;

interface AttemptsOptions {
  readonly domain: string;
  readonly log: Log;
  /** From 0 up to, but not including, 1. */
  random(): number;
}

/** Decides for one query how long to wait before the next attempt, and when to give up. */
export class Attempts {
  readonly #options: AttemptsOptions;
  #failures = 0;
  #throttled = 0;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /**
   * @returns milliseconds
   * @throws PlatformError after too many
   */
  pauseAfterThrottling(): number {
    const { domain, random } = this.#options;
    this.#throttled += 1;
    if (this.#throttled === maxThrottled) {
      throw new PlatformError(
        'unavailable',
        `${domain} has throttled the same query ${maxThrottled} times; another process may be using the same token.`,
      );
    }
    // Others use the same bucket: wait even if it has points, and not in step with them.
    return random() * 250 * this.#throttled;
  }

  /**
   * @returns milliseconds, at least as many as Shopify requests
   * @throws PlatformError after too many
   */
  pauseAfterFailure(error: RetryableError): number {
    const { domain, log, random } = this.#options;
    this.#failures += 1;
    if (this.#failures === maxFailures) {
      throw new PlatformError(
        'unavailable',
        `Querying ${domain} failed ${maxFailures} times: ${error.message}.`,
      );
    }
    log.debug({ domain, failures: this.#failures, reason: error.message }, 'retrying a query');
    return (
      jittered(this.#failures, random()) +
      Math.min(error.retryAfterMilliseconds, maxPauseMilliseconds)
    );
  }
}
