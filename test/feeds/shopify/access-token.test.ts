import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import type { ConnectedShop, Credentials } from '../../../src/platforms/platform.ts';
import { CredentialsRefused, PlatformError } from '../../../src/platforms/errors.ts';
import {
  type TokenAnswer,
  type TokenRequest,
  AccessToken,
} from '../../../src/platforms/shopify/api/access-token.ts';
import { silentLog } from '../../support/world.ts';
import { domain } from './synced.ts';

const minute = 60_000;
const app = { clientId: 'our-client-id', clientSecret: 'our-client-secret' };

/** A shop's token, with credentials that the test holds, and an endpoint that gives one token after the other. */
function begin(fields: Readonly<Record<string, unknown>>, { hasApp = true } = {}) {
  const clock = new FixedClock('2026-11-20T12:00:00Z');
  const requests: TokenRequest[] = [];
  const held = { credentials: { shop: 7, domain, ...fields } as Credentials };
  const endpoint: { fails?: Error; seconds?: number | undefined } = { seconds: 3600 };
  const shop: ConnectedShop = {
    shop: 7,
    account: domain,
    baseUrl: undefined,
    origin: 'database',
    version: '1',
    credentials: {
      read: async () => held.credentials,
      async renew(stale, ask) {
        held.credentials = await ask(stale);
        return held.credentials;
      },
    },
  };
  const token = new AccessToken({
    shop,
    app: hasApp ? app : undefined,
    clock,
    log: silentLog,
    async request(parameters): Promise<TokenAnswer> {
      requests.push(parameters);
      if (endpoint.fails) throw endpoint.fails;
      const number = requests.length + 1;
      return {
        accessToken: `access-${number}`,
        refreshToken:
          'grant_type' in parameters && parameters.grant_type === 'refresh_token'
            ? `refresh-${number}`
            : undefined,
        seconds: endpoint.seconds,
      };
    },
  });
  return { token, clock, requests, held, endpoint };
}

const refreshing = (endsIn: number) => ({
  accessToken: 'access-1',
  refreshToken: 'refresh-1',
  expiresAt: Date.parse('2026-11-20T12:00:00Z') + endsIn,
});
const away = new PlatformError('unavailable', 'Shopify is away.');

test('a fixed token is used until it is refused, then the newest one', async () => {
  const { token, held, requests } = begin({ accessToken: 'one' });
  assert.equal(await token.get(), 'one');
  await assert.rejects(token.get('one'), (error) => error instanceof CredentialsRefused);
  held.credentials = { ...held.credentials, accessToken: 'two' };
  assert.equal(await token.get(), 'one');
  assert.equal(await token.get('one'), 'two');
  assert.deepEqual(requests, []);
});

test('a client secret gets a token, and the next one five minutes before its end', async () => {
  const { token, clock, requests, endpoint } = begin({ clientId: 'id', clientSecret: 'secret' });
  endpoint.seconds = undefined;
  assert.equal(await token.get(), 'access-2');
  clock.advance(24 * 60 * minute - 5 * minute - 1);
  assert.equal(await token.get(), 'access-2');
  clock.advance(1);
  assert.equal(await token.get(), 'access-3');
  const request = {
    grant_type: 'client_credentials',
    client_id: 'id',
    client_secret: 'secret',
  } as const;
  assert.deepEqual(requests, [request, request]);
});

test('a refresh token is replaced at each use, and stored before the new token is used', async () => {
  const { token, clock, requests, held } = begin(refreshing(60 * minute));
  assert.equal(await token.get(), 'access-1');
  clock.advance(55 * minute);
  assert.equal(await token.get(), 'access-2');
  assert.deepEqual(held.credentials, {
    shop: 7,
    domain,
    accessToken: 'access-2',
    refreshToken: 'refresh-2',
    expiresAt: clock.now() + 60 * minute,
  });
  assert.deepEqual(requests, [
    {
      grant_type: 'refresh_token',
      client_id: app.clientId,
      client_secret: app.clientSecret,
      refresh_token: 'refresh-1',
    },
  ]);
});

test('a token that another process has renewed is used without asking', async () => {
  const { token, held, requests, clock } = begin(refreshing(60 * minute));
  assert.equal(await token.get(), 'access-1');
  const expiresAt = clock.now() + 120 * minute;
  held.credentials = { ...held.credentials, accessToken: 'theirs', expiresAt };
  assert.equal(await token.get('access-1'), 'theirs');
  clock.advance(56 * minute);
  assert.equal(await token.get(), 'theirs');
  assert.deepEqual(requests, []);
});

test('a token that is refused before its end is renewed', async () => {
  const { token } = begin(refreshing(60 * minute));
  assert.equal(await token.get(), 'access-1');
  assert.equal(await token.get('access-1'), 'access-2');
});

test('many that need a token at once ask once', async () => {
  const { token, requests } = begin(refreshing(0));
  const tokens = await Promise.all(Array.from({ length: 9 }, () => token.get()));
  assert.deepEqual(new Set(tokens), new Set(['access-2']));
  assert.equal(requests.length, 1);
});

test('what is left of a token is used while Shopify is away, which is asked every half minute', async () => {
  const { token, clock, requests, endpoint } = begin(refreshing(6 * minute));
  assert.equal(await token.get(), 'access-1');
  clock.advance(2 * minute);
  endpoint.fails = away;
  for (let each = 0; each < 5; each += 1) assert.equal(await token.get(), 'access-1');
  assert.equal(requests.length, 1);
  clock.advance(minute);
  assert.equal(await token.get(), 'access-1');
  assert.equal(requests.length, 2);
  clock.advance(3 * minute);
  await assert.rejects(token.get(), /Shopify is away/);
  delete endpoint.fails;
  assert.equal(await token.get(), 'access-5');
});

test('refused credentials are refused for all that wait', async () => {
  const { token, endpoint } = begin(refreshing(0));
  endpoint.fails = new CredentialsRefused('No longer.');
  const results = await Promise.allSettled([token.get(), token.get()]);
  for (const each of results) assert.equal(each.status, 'rejected');
});

test('without the app, a refresh token is of no use, and the error says what to set', async () => {
  const { token } = begin(refreshing(0), { hasApp: false });
  await assert.rejects(token.get(), /SHOPIFY_CLIENT_ID and SHOPIFY_CLIENT_SECRET are not set/);
});
