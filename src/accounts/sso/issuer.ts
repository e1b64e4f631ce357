import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import type { Clock } from '../../clock.ts';
import { reach } from '../../platforms/networks.ts';

// Loading the library takes a while, which a service without single sign-on need not wait for.
export const oidc = () => import('openid-client');

/** A client that is registered at an OpenID Connect issuer. */
export interface IssuerClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Internal networks in which the issuer may lie; undefined allows all. */
  readonly networks: readonly string[] | undefined;
}

const timeoutSeconds = 5;
const maxBytes = 512 * 1024;
const rememberedMilliseconds = 10 * 60_000;
/** A failure is remembered, so that an issuer that is away is not asked for every visitor. */
const failedMilliseconds = 5_000;
const maxRemembered = 1_000;

/** Asks only addresses that issuers may have, and reads no more than metadata, keys and tokens need. */
function boundedFetch(networks: IssuerClient['networks']): CustomFetch {
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const reached = await reach(host, networks);
    if (url.protocol !== 'https:' && !reached.isLoopback) {
      throw new TypeError(`${url.origin} does not use https.`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const chunks: Buffer[] = [];
    const found = { address: reached.address, family: isIP(reached.address) };
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = request(url, {
      method,
      headers,
      ...(signal && { signal }),
      lookup: (_, { all }, done) =>
        all ? done(null, [found]) : done(null, found.address, found.family),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let bytes = 0;
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes) sent.destroy(new TypeError(`${url.origin} sends too much.`));
      });
      response.on('end', () => resolve(response));
    });
    sent.end(body instanceof URLSearchParams ? body.toString() : body);
    const { statusCode: status = 500, headersDistinct } = await promise;
    const received = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct)) {
      for (const value of values) received.append(name, value);
    }
    // Throws for a status that it does not know, which must not be in a listener: that would end the process.
    return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), {
      status,
      headers: received,
    });
  };
}

/** What issuers say of themselves, remembered for some minutes. */
export class Issuers {
  readonly #clock: Clock;
  readonly #known = new Map<
    string,
    { until: number; readonly configuration: Promise<Configuration> }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asks the issuer, unless it has answered lately. Throws what went wrong. */
  discover(client: IssuerClient): Promise<Configuration> {
    const now = this.#clock.now();
    const key = JSON.stringify(client);
    const known = this.#known.get(key);
    if (known && known.until > now) return known.configuration;
    const configuration = discover(client);
    const entry = { until: now + rememberedMilliseconds, configuration };
    configuration.catch(() => {
      entry.until = this.#clock.now() + failedMilliseconds;
    });
    this.#known.delete(key);
    this.#known.set(key, entry);
    const [oldest = ''] = this.#known.keys();
    if (this.#known.size > maxRemembered) this.#known.delete(oldest);
    return configuration;
  }
}

async function discover({ issuer, clientId, clientSecret, networks }: IssuerClient) {
  const library = await oidc();
  const { allowInsecureRequests, enableNonRepudiationChecks } = library;
  const isPlain = issuer.startsWith('http:');
  const basic = library.ClientSecretBasic(clientSecret);
  const post = library.ClientSecretPost(clientSecret);
  const authenticate: ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
  return library.discovery(new URL(issuer), clientId, undefined, authenticate, {
    [library.customFetch]: boundedFetch(networks),
    timeout: timeoutSeconds,
    // The signatures of tokens are checked although they come from the issuer itself.
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
  });
}
