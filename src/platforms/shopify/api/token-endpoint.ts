import { z } from 'zod';
import type { Log } from '../../../log/log.ts';
import { CredentialsRefused, PlatformError } from '../../errors.ts';
import type { Backoff } from '../../backoff.ts';
import { RetryableError, isTemporary, reasonOf, retryAfter } from './answer.ts';
import { Attempts } from './attempts.ts';

/** OAuth's parameters, by its names. */
export type TokenRequest = {
  readonly client_id: string;
  readonly client_secret: string;
} & (
  | { readonly grant_type: 'client_credentials' }
  | { readonly grant_type: 'refresh_token'; readonly refresh_token: string }
  | { readonly code: string; readonly expiring: '1' }
);

export interface TokenAnswer {
  readonly accessToken: string;
  /** How long it lives; undefined if Shopify does not say. */
  readonly seconds: number | undefined;
  readonly refreshToken: string | undefined;
  /** What the app may read and write, separated by commas. */
  readonly scope: string | undefined;
}

interface TokenEndpointOptions {
  readonly domain: string;
  /** Where the shop is, without a trailing slash. */
  readonly origin: string;
  readonly log: Log;
  readonly backoff: Backoff;
  /** Stops everything in progress; its reason is thrown. */
  readonly signal: AbortSignal | undefined;
}

const answerSchema = z.object({
  access_token: z.string().min(8),
  expires_in: z.number().positive().optional(),
  refresh_token: z.string().min(8).optional(),
  scope: z.string().optional(),
});

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
  const { domain, log, backoff, signal } = options;
  const attempts = new Attempts({ domain, log, random: backoff.random });
  for (;;) {
    try {
      return await attempt(options, parameters);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof RetryableError)) throw error;
      await backoff.wait(attempts.pauseAfterFailure(error), signal);
    }
  }
}

async function attempt(
  { domain, origin, signal }: TokenEndpointOptions,
  parameters: TokenRequest,
): Promise<TokenAnswer> {
  const timeout = AbortSignal.timeout(timeoutMilliseconds);
  let response: Response;
  try {
    response = await fetch(`${origin}/admin/oauth/access_token`, {
      method: 'POST',
      // Secrets must not be sent anywhere else.
      redirect: 'manual',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(parameters),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    return await read(response, domain, parameters);
  } catch (error) {
    if (error instanceof PlatformError || error instanceof RetryableError) throw error;
    throw new RetryableError(
      timeout.aborted
        ? `it did not answer within ${timeoutMilliseconds / 1000} s`
        : reasonOf(error as Error),
    );
  }
}

async function read(
  response: Response,
  domain: string,
  parameters: TokenRequest,
): Promise<TokenAnswer> {
  const { status, headers } = response;
  if (isTemporary(status)) {
    await response.body?.cancel();
    throw new RetryableError(`it answered ${status}`, retryAfter(headers.get('retry-after')));
  }
  if (status !== 200) {
    await response.body?.cancel();
    if (status === 404) {
      throw new PlatformError('refused', `Shopify has no shop ${domain} (404).`);
    }
    throw new CredentialsRefused(`${domain} ${refusalOf(parameters)} (${status}).`);
  }
  const parsed = answerSchema.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new RetryableError('its answer had no access token');
  const { access_token, expires_in, refresh_token, scope } = parsed.data;
  return { accessToken: access_token, seconds: expires_in, refreshToken: refresh_token, scope };
}

function refusalOf(parameters: TokenRequest): string {
  if ('code' in parameters) return 'does not accept the authorization code; connect the shop again';
  return parameters.grant_type === 'refresh_token'
    ? 'no longer accepts the refresh token; connect the shop again'
    : "does not accept the app's client id and secret";
}
