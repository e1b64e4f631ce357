import { readFile } from 'node:fs/promises';
import { UsageError } from '../../../errors.ts';

/** What Shopify lets us in with, for one shop. */
export interface ShopifyCredentials {
  /** The shop's number here. */
  readonly shop: number;
  /** `name.myshopify.com` */
  readonly domain: string;
  readonly accessToken: string;
  /** Where the API is instead of at the domain: a proxy, or a stand-in. */
  readonly baseUrl?: string;
}

const fields = {
  shop: {
    want: 'the number of a shop',
    fits: (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1,
  },
  domain: {
    want: 'text such as "sample-shop.myshopify.com"',
    fits: (value: unknown) =>
      typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}\.myshopify\.com$/.test(value),
  },
  accessToken: {
    want: "the app's access token for the Admin API, which begins with shpat_ or another shp…_",
    fits: (value: unknown) =>
      typeof value === 'string' && /^shp[a-z]{2,3}_[\w-]{8,500}$/.test(value),
  },
  baseUrl: {
    want: 'left out, or an https:// address (http:// on this machine only)',
    fits: (value: unknown) =>
      value === undefined || (typeof value === 'string' && isSafeAddress(URL.parse(value))),
  },
} as const;

/** In clear text a token may go to this machine only. */
function isSafeAddress(url: URL | null): boolean {
  if (!url || url.username !== '' || url.search !== '' || url.hash !== '') return false;
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
}

/**
 * The shops of the file that SHOPIFY_CREDENTIALS_FILE names.
 * @throws UsageError naming everything that is wrong with it, together, and nothing of what it holds
 */
export async function readShopifyCredentials(file: string): Promise<readonly ShopifyCredentials[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable(file, [
      error.code === 'ENOENT' ? 'There is no such file.' : `It cannot be read (${error.code}).`,
    ]);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message would quote what stands there.
    throw unusable(file, ['It is not JSON.']);
  }
  const shops = isObject(value) ? value['shops'] : undefined;
  if (!Array.isArray(shops) || shops.length === 0) {
    throw unusable(file, ['It must be {"shops":[…]} with at least one shop.']);
  }
  const problems = shops.flatMap((each: unknown, index) => problemsOf(each, `shops[${index}]`));
  if (problems.length === 0) {
    for (const field of ['shop', 'domain'] as const) {
      const values = shops.map((each: ShopifyCredentials) => each[field]);
      const twice = new Set(values.filter((each, index) => values.indexOf(each) !== index));
      for (const each of twice) problems.push(`${field} ${each} is there more than once.`);
    }
  }
  if (problems.length > 0) throw unusable(file, problems);
  return shops as ShopifyCredentials[];
}

function problemsOf(entry: unknown, place: string): string[] {
  if (!isObject(entry)) return [`${place} must be an object with shop, domain and accessToken.`];
  const wrong = Object.entries(fields)
    .filter(([name, { fits }]) => !fits(entry[name]))
    .map(([name, { want }]) => `${place}.${name} must be ${want}.`);
  const unknown = Object.keys(entry)
    .filter((name) => !Object.hasOwn(fields, name))
    // A name in the wrong place may be a token.
    .map(() => `${place} has a field besides ${Object.keys(fields).join(', ')}.`);
  return [...wrong, ...new Set(unknown)];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unusable(file: string, problems: readonly string[]): UsageError {
  return new UsageError(
    `SHOPIFY_CREDENTIALS_FILE, ${file}, is not usable:\n${problems.map((each) => `  ${each}`).join('\n')}`,
  );
}
