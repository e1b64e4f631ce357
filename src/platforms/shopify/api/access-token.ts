import { z } from 'zod';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log/log.ts';
import type { ConnectedShop, Credentials, PlatformApp } from '../../platform.ts';
import { CredentialsRefused, PlatformError } from '../../errors.ts';
import type { Backoff } from '../../backoff.ts';
import { RetryableError, attempt, Attempts } from './attempts.ts';

interface AccessTokenParts {
  readonly shop: ConnectedShop;
  readonly app: PlatformApp | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Stops waiting for another process that renews the token. */
  readonly signal?: AbortSignal | undefined;
  /** Asks the shop's token endpoint. */
  request(parameters: TokenRequest): Promise<TokenAnswer>;
}

/** Tokens are replaced this long before they end, so that what is under way still ends with them. */
const marginMilliseconds = 5 * 60_000;
const retryMilliseconds = 30_000;
/** Where Shopify does not say how long a token lives: what its documentation says. */
const defaultSeconds = { client: 24 * 3600, refresh: 3600 } as const;

interface Token {
  readonly text: string;
  /** Epoch milliseconds; undefined for a token that does not end. */
  readonly endsAt: number | undefined;
}

/** The access token of one shop, whichever way it is come by, and however short it lives. */
export class AccessToken {
  readonly #parts: AccessTokenParts;
  #known: Token | undefined;
  /** The way to the next token, which all who need one share. */
  #underWay: Promise<void> | undefined;
  /** When to try again after a temporary failure, in epoch milliseconds. */
  #retryAt = 0;

  constructor(parts: AccessTokenParts) {
    this.#parts = parts;
  }

  /**
   * A token to send.
   * @param refused one that Shopify has refused, and that must not be returned again
   * @throws CredentialsRefused if Shopify gives no other
   * @throws PlatformError if it cannot be asked
   */
  async get(refused?: string): Promise<string> {
    for (;;) {
      const usable = this.#usable(refused);
      if (usable !== undefined) return usable;
      if (!this.#underWay) break;
      await this.#underWay.catch(() => {});
    }
    this.#underWay = this.#replace(refused).finally(() => {
      this.#underWay = undefined;
    });
    await this.#underWay;
    const token = this.#known as Token;
    if (token.text !== refused) return token.text;
    throw new CredentialsRefused(
      `${this.#parts.shop.account} does not accept the access token that it gave.`,
    );
  }

  #usable(refused: string | undefined): string | undefined {
    const known = this.#known;
    if (!known || known.text === refused) return undefined;
    const now = this.#parts.clock.now();
    const left = (known.endsAt ?? Infinity) - now;
    return left > marginMilliseconds || (left > 0 && now < this.#retryAt) ? known.text : undefined;
  }

  async #replace(refused: string | undefined): Promise<void> {
    const { clock, log, shop } = this.#parts;
    try {
      this.#known = await this.#next(refused);
    } catch (error) {
      const { text, endsAt = Infinity } = this.#known ?? {};
      const mayPass = error instanceof PlatformError && error.kind === 'unavailable';
      if (!mayPass || text === refused || endsAt <= clock.now()) throw error;
      // What is left of the old one may last until Shopify answers again.
      const { message: reason } = error;
      log.warn({ shop: shop.shop, account: shop.account, reason }, 'access token not renewed yet');
      this.#retryAt = clock.now() + retryMilliseconds;
    }
  }

  async #next(refused: string | undefined): Promise<Token> {
    const { shop } = this.#parts;
    const credentials = await shop.credentials.read();
    if (credentials['clientSecret'] !== undefined) return this.#byClient(credentials);
    if (credentials['refreshToken'] !== undefined) return this.#byRefreshing(credentials, refused);
    const text = String(credentials['accessToken']);
    if (text !== refused) return { text, endsAt: undefined };
    throw new CredentialsRefused(
      `${shop.account} does not accept the access token.`,
      shop.origin === 'file'
        ? 'Put a valid one into SHOPIFY_CREDENTIALS_FILE.'
        : 'Connect the shop again.',
    );
  }

  /** Every process asks for a token of its own: that ends none of the others. */
  async #byClient({ clientId, clientSecret }: Credentials): Promise<Token> {
    const { clock } = this.#parts;
    const askedAt = clock.now();
    const { accessToken, seconds = defaultSeconds.client } = await this.#parts.request({
      grant_type: 'client_credentials',
      client_id: String(clientId),
      client_secret: String(clientSecret),
    });
    return { text: accessToken, endsAt: askedAt + seconds * 1000 };
  }

  async #byRefreshing(stored: Credentials, refused: string | undefined): Promise<Token> {
    const { clock, shop, signal } = this.#parts;
    const { text, endsAt = 0 } = tokenOf(stored);
    // Another process may have renewed it.
    if (text !== refused && endsAt - clock.now() > marginMilliseconds) return tokenOf(stored);
    const ask = (stale: Credentials) => this.#refresh(stale);
    return tokenOf(await shop.credentials.renew(stored, ask, signal));
  }

  async #refresh(stale: Credentials): Promise<Credentials> {
    const { app, clock, request } = this.#parts;
    if (!app) {
      throw new PlatformError(
        'refused',
        'This service cannot renew its access to the shop.',
        'SHOPIFY_CLIENT_ID and SHOPIFY_CLIENT_SECRET are not set.',
      );
    }
    const askedAt = clock.now();
    const answer = await request({
      grant_type: 'refresh_token',
      client_id: app.clientId,
      client_secret: app.clientSecret,
      refresh_token: String(stale['refreshToken']),
    });
    return { ...stale, ...fieldsOf(answer, askedAt) };
  }
}

function tokenOf({ accessToken, expiresAt }: Credentials): Token {
  return { text: String(accessToken), endsAt: Number(expiresAt) };
}

/** What is kept of an answer with a refresh token. @param askedAt epoch milliseconds */
export function fieldsOf(
  { accessToken, seconds = defaultSeconds.refresh, refreshToken }: TokenAnswer,
  askedAt: number,
): Readonly<Record<string, unknown>> {
  return {
    accessToken,
    expiresAt: askedAt + seconds * 1000,
    // Left out of an answer, the one that was used stays.
    ...(refreshToken !== undefined && { refreshToken }),
  };
}

/** OAuth's parameters, by its names. */
export type TokenRequest = {
  readonly client_id: string;
  readonly client_secret: string;
} & (
  | { readonly grant_type: 'client_credentials' }
  | { readonly grant_type: 'refresh_token'; readonly refresh_token: string }
  | { readonly code: string; readonly expiring: '1' }
);

interface TokenEndpointOptions {
  readonly domain: string;
  /** Where the shop is, without a trailing slash. */
  readonly origin: string;
  readonly log: Log;
  readonly backoff: Backoff;
  /** Stops everything in progress; its reason is thrown. */
  readonly signal: AbortSignal | undefined;
}

const answerSchema = z
  .object({
    access_token: z.string().min(8),
    expires_in: z.number().positive().optional(),
    refresh_token: z.string().min(8).optional(),
  })
  .transform((answer) => ({
    accessToken: answer.access_token,
    /** How long it lives; undefined if Shopify does not say. */
    seconds: answer.expires_in,
    refreshToken: answer.refresh_token,
  }));
export type TokenAnswer = z.output<typeof answerSchema>;

/** Shorter than for queries: the claim of who renews ends some time. */
const timeoutMilliseconds = 10_000;

/**
 * Asks a shop for an access token. Temporary failures are retried.
 * @throws CredentialsRefused if Shopify does not accept what was sent
 * @throws PlatformError in one sentence, without a secret
 * @see https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/offline-access-tokens
 */
export async function requestToken(
  options: TokenEndpointOptions,
  parameters: TokenRequest,
): Promise<TokenAnswer> {
  const { domain, origin, log, backoff, signal } = options;
  const url = `${origin}/admin/oauth/access_token`;
  const attempts = new Attempts({ domain, log, random: backoff.random });
  for (;;) {
    const body = new URLSearchParams(parameters);
    try {
      return await attempt(url, { headers: {}, body, timeoutMilliseconds, signal }, (response) =>
        read(response, domain, parameters),
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof RetryableError)) throw error;
      await backoff.wait(attempts.pauseAfterFailure(error), signal);
    }
  }
}

async function read(
  response: Response,
  domain: string,
  parameters: TokenRequest,
): Promise<TokenAnswer> {
  const { status } = response;
  if (status !== 200) {
    await response.body?.cancel();
    if (status === 404) {
      throw new PlatformError('refused', `Shopify has no shop ${domain} (404).`);
    }
    throw new CredentialsRefused(`${domain} ${refusalOf(parameters)} (${status}).`);
  }
  const parsed = answerSchema.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new RetryableError('its answer had no access token');
  return parsed.data;
}

function refusalOf(parameters: TokenRequest): string {
  if ('code' in parameters) return 'does not accept the authorization code; connect the shop again';
  return parameters.grant_type === 'refresh_token'
    ? 'no longer accepts the refresh token; connect the shop again'
    : "does not accept the app's client id and secret";
}
