import { PlatformError } from '../../errors.ts';
import type { QueryCost } from './cost-bucket.ts';

/** One attempt came to nothing; the next may not. The message ends a sentence. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterMilliseconds: number;

  constructor(message: string, retryAfterMilliseconds = 0) {
    super(message);
    this.retryAfterMilliseconds = retryAfterMilliseconds;
  }
}

export interface ShopifyAnswer {
  readonly data: unknown;
  readonly cost: QueryCost | undefined;
  /** Nothing was done: the bucket lacked what the query costs. */
  readonly isThrottled: boolean;
}

/** https://shopify.dev/docs/api/usage/response-codes */
const refusals: Readonly<Record<number, string>> = {
  401: 'does not accept the access token; put a valid one into SHOPIFY_CREDENTIALS_FILE',
  402: 'is frozen: its bill is not paid',
  403: 'does not let this app in (403)',
  404: 'does not have this API (404); look at the domain in SHOPIFY_CREDENTIALS_FILE',
  423: 'is locked by Shopify (423)',
};

/** Besides these, a 5xx may pass. 430: Shopify takes the requests for an attack. */
const passing = new Set([408, 429, 430]);

/**
 * @throws Unavailable where asking again may help
 * @throws PlatformError where it does not
 */
export async function readAnswer(response: Response, domain: string): Promise<ShopifyAnswer> {
  const { status } = response;
  if (status >= 500 || passing.has(status)) {
    await response.body?.cancel();
    throw new Unavailable(`it answered ${status}`, retryAfter(response.headers.get('retry-after')));
  }
  if (status !== 200) {
    await response.body?.cancel();
    throw new PlatformError(
      'refused',
      `${domain} ${refusals[status] ?? `answered ${status}, which nothing here expects`}.`,
    );
  }
  const text = await response.text();
  let body: GraphqlBody;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Unavailable('its answer was not JSON');
  }
  return { data: body?.data, cost: body?.extensions?.cost, isThrottled: judge(body, domain) };
}

interface GraphqlError {
  readonly message?: unknown;
  readonly extensions?: { readonly code?: unknown } | null;
}

interface GraphqlBody {
  readonly data?: unknown;
  /** Text where the request as a whole is refused. */
  readonly errors?: readonly GraphqlError[] | string;
  readonly extensions?: { readonly cost?: QueryCost };
}

const intermittent = new Set(['INTERNAL_SERVER_ERROR', 'TIMEOUT', 'SERVICE_UNAVAILABLE']);

/** @returns whether the query was throttled */
function judge({ errors, data }: GraphqlBody, domain: string): boolean {
  if (errors === undefined || errors.length === 0) {
    if (typeof data !== 'object' || data === null) throw new Unavailable('its answer had no data');
    return false;
  }
  const list = typeof errors === 'string' ? [{ message: errors }] : errors;
  const codes = list.map(({ extensions }) => String(extensions?.code ?? ''));
  if (codes.includes('THROTTLED')) return true;
  if (codes.every((code) => intermittent.has(code))) {
    throw new Unavailable(`it answered with the error ${codes[0]}`);
  }
  const said = list.map(({ message }) => String(message ?? 'no reason')).join('; ');
  throw new PlatformError('refused', `${domain} refused a query: ${shown(said)}`);
}

/** Enough of what another system says, on one line, and without anything that looks like a token. */
function shown(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/\bshp[a-z]{2,3}_[\w-]+/g, '[redacted]')
    .trim();
  const cut = line.length > 300 ? `${line.slice(0, 300)}…` : line;
  return /[.!?…]$/.test(cut) ? cut : `${cut}.`;
}

/** Seconds; a date, which Shopify does not send, counts as nothing. */
function retryAfter(header: string | null): number {
  const seconds = Number(header ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
