import type { Log } from '../../../log/log.ts';
import { PlatformError } from '../../errors.ts';
import { jittered } from '../../pauses.ts';
import type { Unavailable } from './answer.ts';

const maxFailures = 6;
const maxThrottled = 20;
const maxPauseMilliseconds = 300_000;

interface AttemptsOptions {
  readonly domain: string;
  readonly log: Log;
  /** From 0 to below 1. */
  random(): number;
}

/** The attempts of one query: how long to wait before the next one, and when to give up. */
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
        `${domain} has refused the same query ${maxThrottled} times because too much was asked of it; another process may use the same token.`,
      );
    }
    // Others draw from the same bucket: never at once, never all together.
    return random() * 250 * this.#throttled;
  }

  /**
   * @returns milliseconds, at least as many as Shopify asks for
   * @throws PlatformError after too many
   */
  pauseAfterFailure(error: Unavailable): number {
    const { domain, log, random } = this.#options;
    this.#failures += 1;
    if (this.#failures === maxFailures) {
      throw new PlatformError(
        'unavailable',
        `${domain} could not be asked in ${maxFailures} attempts: ${error.message}.`,
      );
    }
    log.debug({ domain, failures: this.#failures, reason: error.message }, 'asking Shopify again');
    return (
      jittered(this.#failures, random()) +
      Math.min(error.retryAfterMilliseconds, maxPauseMilliseconds)
    );
  }
}
