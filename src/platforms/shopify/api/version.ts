/**
 * The version of the Admin API that the queries and the mapping are written for.
 * https://shopify.dev/docs/api/usage/versioning
 */
export const apiVersion = '2026-10';

/** Shopify supports a version for a year from its release, on the first of the month it is named for. */
const monthsOfSupport = 12;
const warningMilliseconds = 60 * 24 * 3_600_000;

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
