import { createHmac, randomBytes } from 'node:crypto';

interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

interface TokenAnswer {
  readonly status: number;
  readonly body: object;
}

const hourMilliseconds = 3_600_000;

/**
 * Who may ask for the data of the stand-in's shop. Only the newest expiring token is valid; a refresh token can be used
 * again until its replacement is used.
 */
export class StandInTokens {
  readonly clientId = randomBytes(16).toString('hex');
  readonly clientSecret = randomBytes(16).toString('hex');
  /** With which it may still sign, during rotation. */
  readonly olderSecret = randomBytes(16).toString('hex');
  /** A token that does not end. */
  readonly fixed = newToken('shpat');
  /** Epoch milliseconds; a test may replace it. */
  now = () => Date.now();
  /** How many requests for a token still fail with 503. */
  unavailable = 0;
  /** How many requests for a token came. */
  asked = 0;
  /** Called when a token was given, before it is answered. */
  given: () => void = () => {};

  readonly #valid = new Map<string, number>([[this.fixed, Infinity]]);
  /** The newest access token that came with a refresh token. */
  #newest: string | undefined;
  #refreshToken: string | undefined;
  /** The one before, usable until the newest is used. */
  #previous: string | undefined;
  #codes = new Map<string, string>();

  isValid(token: unknown): boolean {
    return (this.#valid.get(String(token)) ?? 0) > this.now();
  }

  /** Ends the newest expiring access token. */
  revoke(): void {
    if (this.#newest !== undefined) this.#valid.delete(this.#newest);
  }

  /** Ends everything that was given for a refresh token, and the refresh tokens. */
  revokeAll(): void {
    this.revoke();
    this.#refreshToken = undefined;
    this.#previous = undefined;
  }

  /** What an app gets by an expiring grant. */
  grant(): Pair {
    this.revoke();
    const accessToken = newToken('shpat');
    this.#newest = accessToken;
    this.#valid.set(accessToken, this.now() + hourMilliseconds);
    this.#refreshToken = newToken('shprt');
    return { accessToken, refreshToken: this.#refreshToken };
  }

  /** What was given last by an expiring grant. */
  current(): Pair {
    return { accessToken: String(this.#newest), refreshToken: String(this.#refreshToken) };
  }

  /** A code that can be exchanged once. */
  newCode(scope: string): string {
    const code = randomBytes(16).toString('hex');
    this.#codes.set(code, scope);
    return code;
  }

  /** Signs the parameters that send an owner back, as Shopify does. */
  signed(
    parameters: Readonly<Record<string, string>> | [string, string][],
    secret = this.clientSecret,
  ): URLSearchParams {
    const sorted = new URLSearchParams(parameters);
    sorted.sort();
    const hmac = createHmac('sha256', secret).update(String(sorted)).digest('hex');
    const back = new URLSearchParams(parameters);
    back.append('hmac', hmac);
    return back;
  }

  /** Answers a request to `/admin/oauth/access_token`. */
  answer(body: string): TokenAnswer {
    this.asked += 1;
    if (this.unavailable > 0) {
      this.unavailable -= 1;
      return { status: 503, body: {} };
    }
    const form = new URLSearchParams(body);
    const isOurs =
      form.get('client_id') === this.clientId && form.get('client_secret') === this.clientSecret;
    if (!isOurs) return { status: 401, body: { error: 'invalid_client' } };
    const answer = this.#exchange(form);
    this.given();
    return answer;
  }

  #exchange(form: URLSearchParams): TokenAnswer {
    const refused = { status: 400, body: { error: 'invalid_grant' } };
    const code = form.get('code');
    if (code !== null) {
      const scope = this.#codes.get(code);
      if (!this.#codes.delete(code) || form.get('expiring') !== '1') return refused;
      return { status: 200, body: { ...this.#pair(), scope } };
    }
    if (form.get('grant_type') === 'client_credentials') {
      const accessToken = newToken('shpat');
      this.#valid.set(accessToken, this.now() + 24 * hourMilliseconds);
      return { status: 200, body: { access_token: accessToken, expires_in: 86_399 } };
    }
    const given = form.get('refresh_token');
    if (given === null || (given !== this.#refreshToken && given !== this.#previous)) {
      return refused;
    }
    this.#previous = given;
    return { status: 200, body: this.#pair() };
  }

  #pair() {
    const { accessToken, refreshToken } = this.grant();
    return {
      access_token: accessToken,
      expires_in: 3600,
      refresh_token: refreshToken,
      refresh_token_expires_in: 7_776_000,
    };
  }
}

function newToken(prefix: 'shpat' | 'shprt'): string {
  return `${prefix}_${randomBytes(16).toString('hex')}`;
}
