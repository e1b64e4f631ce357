import type { Log } from '../../../log/log.ts';
import { apiVersion } from '../api/version.ts';

/** Headers are not signed: anything else is not Shopify's, and could fill the memory. */
const versionPattern = /^(?:20\d\d-(?:01|04|07|10)|unstable)$/;

/**
 * Reports webhooks whose bodies are of another API version than the one in use. Shopify chooses it
 * by the app's configuration.
 */
export class VersionWatch {
  readonly #log: Log;
  /** Shops and versions that were reported. */
  readonly #reported = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Reports a version once for each shop. */
  check(shopId: number, version: string): void {
    if (version === apiVersion || !versionPattern.test(version)) return;
    const key = `${shopId} ${version}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#log.warn(
      { shopId, version, expected: apiVersion },
      "webhook of another API version; change it in the app's configuration",
    );
  }
}
