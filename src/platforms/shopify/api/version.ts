import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log/log.ts';

/**
 * The version of the Admin API that the queries and the mapping are written for.
 * https://shopify.dev/docs/api/usage/versioning
 */
export const apiVersion = '2026-10';

/** Shopify supports a version for a year from its release, on the first of the month it is named for. */
const monthsOfSupport = 12;
const dayMilliseconds = 24 * 3_600_000;
const warningMilliseconds = 60 * dayMilliseconds;

/**
 * A warning for the log, if the support for a version ends within 60 days or has ended.
 * @param now in epoch milliseconds
 */
export function supportWarning(now: number, version: string = apiVersion): string | undefined {
  const [year = 0, month = 0] = version.split('-').map(Number);
  const end = Date.UTC(year, month - 1 + monthsOfSupport);
  if (now < end - warningMilliseconds) return undefined;
  const day = new Date(end).toISOString().slice(0, 10);
  return now < end
    ? `Shopify supports version ${version} of its Admin API until ${day}; upgrade this service before then.`
    : `Shopify has not supported version ${version} of its Admin API since ${day} and answers with a later one; upgrade this service.`;
}

let warnedAt = -Infinity;

/** Logs that warning, at most once a day in each process, however many shops it syncs. */
export function warnOfSupport({ clock, log }: { readonly clock: Clock; readonly log: Log }): void {
  const now = clock.now();
  if (now - warnedAt < dayMilliseconds) return;
  const warning = supportWarning(now);
  if (warning === undefined) return;
  warnedAt = now;
  log.warn({ apiVersion }, warning);
}

/** Headers are not signed: anything else is not Shopify's, and could fill the memory. */
const versionPattern = /^(?:20\d\d-(?:01|04|07|10)|unstable)$/;

/**
 * Reports webhooks whose bodies are of another API version than the one in use, once for each shop and version.
 * Shopify chooses it by the app's configuration.
 */
export function createVersionWatch(log: Log): (shopId: number, version: string) => void {
  const reported = new Set<string>();
  return (shopId, version) => {
    if (version === apiVersion || !versionPattern.test(version)) return;
    const key = `${shopId} ${version}`;
    if (reported.has(key)) return;
    reported.add(key);
    log.warn(
      { shopId, version, expected: apiVersion },
      "webhook of another API version; change it in the app's configuration",
    );
  };
}
