import { sessionHours } from '../sessions.ts';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isEmail, normaliseEmail } from '../sign-in.ts';
import { oidc } from './issuer.ts';
import { type Provider, type Providers, domainOf } from './providers.ts';

/** Why an issuer's answer is refused, in words for the visitor. */
export class SsoRefused extends Error {
  override readonly name = 'SsoRefused';

  /** @param cause an error, or a text for the audit log */
  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/** What a browser was sent to an issuer for. */
interface Asked {
  readonly provider: number;
  /** The page to open afterwards. */
  readonly next: string;
  /** Whether the person has to sign in at the issuer again. */
  readonly isFresh: boolean;
}

interface Browser {
  /** A secret that only this browser has. */
  readonly secret: string;
  /** Where the issuer sends it back to. */
  readonly redirectUri: string;
  readonly now: number;
}

/** Who somebody is, as an issuer says. */
export interface Identity {
  readonly email: string;
  /** When they last signed in there; undefined if the issuer does not say. */
  readonly authenticatedAt: Date | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

const maxMinutes = 10;
/** Between the clocks of the issuer and the service. */
const skewMilliseconds = 30_000;

/** Of use only with the browser's secret, which no address has. */
const derive = (secret: string, purpose: string, text: string) =>
  createHmac('sha256', secret).update(`single sign-on ${purpose} ${text}`).digest('base64url');

/** The issuer's address for a browser. Nothing is stored: what the answer must fit follows from the browser's secret. */
export async function authorizationAddress(
  providers: Providers,
  provider: Provider,
  { next, isFresh }: Omit<Asked, 'provider'>,
  { secret, redirectUri, now }: Browser,
): Promise<URL> {
  const unique = randomBytes(16).toString('base64url');
  const asked = JSON.stringify([provider.id, next, isFresh, now, unique]);
  const text = Buffer.from(asked).toString('base64url');
  const state = `${text}.${derive(secret, 'state', text)}`;
  const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await oidc();
  return buildAuthorizationUrl(await providers.issuers.discover(provider), {
    redirect_uri: redirectUri,
    scope: 'openid email',
    state,
    nonce: derive(secret, 'nonce', state),
    code_challenge: await calculatePKCECodeChallenge(derive(secret, 'verifier', state)),
    code_challenge_method: 'S256',
    // Asked for any age, issuers say when the person signed in there.
    max_age: String(isFresh ? 0 : sessionHours.max * 3600),
    ...(isFresh && { prompt: 'login' }),
  });
}

/** @returns undefined if this browser did not ask for it, or too long ago */
export function readState(
  state: string,
  { secret, now }: Pick<Browser, 'secret' | 'now'>,
): (Asked & { readonly askedAt: number }) | undefined {
  const [text = '', mac = ''] = state.split('.', 2);
  const [expected, actual] = [Buffer.from(derive(secret, 'state', text)), Buffer.from(mac)];
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined;
  const [provider, next, isFresh, askedAt] = JSON.parse(Buffer.from(text, 'base64url').toString());
  return now - askedAt <= maxMinutes * 60_000 ? { provider, next, isFresh, askedAt } : undefined;
}

/**
 * Exchanges the code in an issuer's answer for who the person is.
 * @param query of the address that the browser came back to
 * @throws SsoRefused with its cause
 */
export async function identify(
  providers: Providers,
  provider: Provider,
  { isFresh, askedAt }: { readonly isFresh: boolean; readonly askedAt: number },
  query: URLSearchParams,
  { secret, redirectUri }: Browser,
): Promise<Identity> {
  const { name, shop } = provider;
  const state = query.get('state') ?? '';
  const library = await oidc();
  const claims = await (async () => {
    const configuration = await providers.issuers.discover(provider);
    const tokens = await library.authorizationCodeGrant(
      configuration,
      new URL(`${redirectUri}?${query}`),
      {
        expectedState: state,
        expectedNonce: derive(secret, 'nonce', state),
        pkceCodeVerifier: derive(secret, 'verifier', state),
      },
    );
    const token = tokens.claims();
    if (!token || !configuration.serverMetadata().userinfo_endpoint) return token;
    // Issuers keep some of what they know of the person out of the token.
    const more = await library.fetchUserInfo(configuration, tokens.access_token, token.sub);
    return { ...more, ...token };
  })().catch((cause: unknown) => {
    const text =
      cause instanceof library.AuthorizationResponseError
        ? `${name} did not sign you in. Start again, or ask those who manage it for access.`
        : `The answer of ${name} is not valid, or it did not answer in time. Start again.`;
    throw new SsoRefused(text, cause);
  });

  const email = normaliseEmail(String(claims?.['email'] ?? ''));
  if (!isEmail(email) || claims?.['email_verified'] !== true) {
    throw new SsoRefused(
      `${name} has not verified your email address. Verify it there, then start again.`,
      'email not verified',
    );
  }
  if (shop && domainOf(email) !== shop.domain) {
    throw new SsoRefused(
      `Your address at ${name} is not one of ${shop.domain}. Sign in there with another account.`,
      'email of another domain',
    );
  }
  if (shop && !(await providers.isVerified(shop))) {
    throw new SsoRefused(
      `The DNS of ${shop.domain} no longer has the record that lets ${name} sign people in. Ask those who manage it.`,
      'no DNS record',
    );
  }
  const seconds = claims['auth_time'];
  const authenticatedAt = typeof seconds === 'number' ? new Date(seconds * 1000) : undefined;
  if (isFresh && (authenticatedAt?.getTime() ?? 0) < askedAt - skewMilliseconds) {
    throw new SsoRefused(
      `${name} did not ask you to sign in again. Sign out there, then start again.`,
      'not signed in again',
    );
  }
  return { email, authenticatedAt, claims };
}
