import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

type Claims = Readonly<Record<string, unknown>>;

/** What the tests change of an ID token before it is signed again. */
export type Change = (claims: Claims) => Claims;

export const client = { clientId: 'retention', clientSecret: 'a secret of the issuer' };

/** An OpenID Connect issuer, with one person in front of it. */
export class TestIssuer {
  readonly url: string;
  readonly #server: Server;
  readonly #key: object;
  /** Who signs in, and what the issuer says of them. */
  person: Claims = {};
  /** Of all further ID tokens. */
  change: Change | undefined;
  /** Whether it signs with a key that it does not publish. */
  forges = false;
  /** The parameters of the last authorization request. */
  asked = new URLSearchParams();

  private constructor(server: Server) {
    const { port } = server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
    this.#server = server;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#key = privateKey.export({ format: 'jwk' });
  }

  static async start(): Promise<TestIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new TestIssuer(server);
  }

  /** Begins to answer. @param redirectUris to which it may send browsers back */
  serve(redirectUris: readonly string[]): void {
    const clientOf = (client_id: string, client_secret: string) => ({
      client_id,
      client_secret,
      redirect_uris: [...redirectUris],
    });
    const provider = new Provider(this.url, {
      clients: [clientOf(client.clientId, client.clientSecret), clientOf('another', 'its secret')],
      jwks: { keys: [{ ...this.#key, kid: 'test', alg: 'RS256', use: 'sig' }] },
      cookies: { keys: ['test'] },
      features: { devInteractions: { enabled: false } },
      claims: { openid: ['sub'], email: ['email', 'email_verified', 'groups'], auth_time: null },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, sub) => ({
        accountId: sub,
        claims: async () => ({ sub, ...this.person }),
      }),
      // People have agreed already.
      async loadExistingGrant(context) {
        const { client: asking, session } = context.oidc;
        const grant = new context.oidc.provider.Grant({
          clientId: String(asking?.clientId),
          accountId: String(session?.accountId),
        });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
    });
    provider.use(async (context, next) => {
      if (context.path === '/auth') this.asked = new URLSearchParams(context.querystring);
      if (context.path.startsWith('/interaction/')) {
        await provider.interactionFinished(context.req, context.res, {
          login: { accountId: String(this.person['sub'] ?? this.person['email']) },
        });
        context.respond = false;
        return;
      }
      await next();
      const token = (context.body as { id_token?: string } | undefined)?.id_token;
      if (context.path === '/token' && token !== undefined) {
        (context.body as { id_token: string }).id_token = this.#signAgain(token);
      }
    });
    const answer = provider.callback();
    this.#server.on('request', (request, response) => void answer(request, response));
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #signAgain(token: string): string {
    if (!this.change && !this.forges) return token;
    const [header = '', payload = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const changed = Buffer.from(JSON.stringify(this.change?.(claims) ?? claims)).toString(
      'base64url',
    );
    const key = this.forges
      ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
      : createPrivateKey({ key: this.#key as never, format: 'jwk' });
    const signature = sign('sha256', Buffer.from(`${header}.${changed}`), key);
    return `${header}.${changed}.${signature.toString('base64url')}`;
  }
}

/** A browser at the issuer: it keeps cookies, and stops where the issuer sends it back to another origin. */
export class IssuerBrowser {
  readonly #cookies = new Map<string, string>();

  async follow(address: string): Promise<URL> {
    const { origin } = new URL(address);
    let url = new URL(address);
    for (let steps = 0; steps < 10; steps += 1) {
      const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        this.#cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`The issuer answers ${await response.text()}`);
      url = new URL(location, url);
      if (url.origin !== origin) return url;
    }
    throw new Error('The issuer redirects without end.');
  }
}
