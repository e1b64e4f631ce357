import assert from 'node:assert/strict';
import { FixedClock } from '../../../src/clock.ts';
import type { Store } from '../../../src/store/open.ts';
import { type ServiceOptions, startWorld } from '../../support/world.ts';
import { type Page, Visitor, newAddress, signedInOwner } from '../visitor.ts';
import { IssuerBrowser, TestIssuer, client } from './issuer.ts';

/** A service with an issuer of its own, and what DNS has. */
export async function startSsoWorld(store: Store, options: Pick<ServiceOptions, 'mail'> = {}) {
  const issuer = await TestIssuer.start();
  const dns = new Map<string, string>();
  const world = await startWorld(store, {
    ...options,
    // The issuer's tokens have the real time.
    clock: new FixedClock(Date.now()),
    credentialsKeys: [Buffer.alloc(32, 7)],
    sourceNetworks: ['127.0.0.0/8'],
    sso: { ...client, issuer: issuer.url, name: 'Lumen Login' },
    async resolveTxt(name) {
      const text = dns.get(name);
      if (text === undefined) throw new Error(`queryTxt ENOTFOUND ${name}`);
      // A long text comes in parts.
      return [['v=spf1 -all'], [text.slice(0, 20), text.slice(20)]];
    },
  });
  const { service, shop } = world;
  issuer.serve([0, shop.id].map((id) => `${service.baseUrl}/app/sso/${id}/callback`));
  return {
    ...world,
    issuer,
    dns,
    async close() {
      await world.close();
      await issuer.close();
    },
  };
}

export type SsoWorld = Awaited<ReturnType<typeof startSsoWorld>>;

/** Sends a browser to the issuer. @returns where the issuer sends it back to */
export async function goToIssuer(
  world: SsoWorld,
  visitor: Visitor,
  { id = 0, query = '' } = {},
): Promise<string> {
  const start = await visitor.get(`/app/sso/${id}${query}`);
  assert.equal(start.status, 303, start.text);
  const address = new URL(start.location ?? '');
  assert.equal(address.origin, world.issuer.url);
  const back = await new IssuerBrowser().follow(address.href);
  assert.equal(back.origin, world.service.baseUrl);
  return back.pathname + back.search;
}

/** Signs in a person at the issuer, and with it here. */
export async function signInBySso(
  world: SsoWorld,
  options: Parameters<typeof goToIssuer>[2] & { readonly visitor?: Visitor } = {},
): Promise<{ readonly visitor: Visitor; readonly page: Page }> {
  const { visitor = new Visitor(world.service.baseUrl, newAddress()), ...rest } = options;
  const page = await visitor.get(await goToIssuer(world, visitor, rest));
  return { visitor, page };
}

export async function roleOf(
  { store, shop }: SsoWorld,
  email: string,
): Promise<string | undefined> {
  const [found] = await store.write<{ role: string }[]>`
    select role from owners.memberships m join owners.accounts a using (owner_id)
    where m.shop_id = ${shop.id} and a.email = ${email}`;
  return found?.role;
}

const form = {
  'client-id': client.clientId,
  'client-secret': client.clientSecret,
  claim: '',
  owner: '',
  developer: '',
  analyst: '',
  default: 'analyst',
};

/** Sets up the issuer for a mail domain of the shop. */
export async function setUpIssuer(
  world: SsoWorld,
  domain: string,
  fields: Readonly<Record<string, string>> = {},
) {
  const { visitor, email } = await signedInOwner(world);
  const path = `/app/shops/${world.shop.id}/sso`;
  await visitor.get(path);
  const save = (changed: Readonly<Record<string, string>> = {}) =>
    visitor.post(path, { ...form, issuer: world.issuer.url, domain, ...fields, ...changed });
  const saved = await save();
  assert.equal(saved.status, 303, saved.text);
  const { text } = await visitor.get(path);
  const record = /retention-verification=[0-9a-f]{32}/.exec(text)?.[0] ?? '';
  world.dns.set(`_retention.${domain}`, record);
  const verify = async () => {
    const verified = await visitor.post(`${path}/verify`);
    assert.equal(verified.location, `${path}?done=verified`, verified.text);
  };
  return { visitor, email, path, save, verify };
}

/** Sets up the issuer, and verifies the domain. */
export async function setUpShop(...given: Parameters<typeof setUpIssuer>) {
  const { verify, ...shop } = await setUpIssuer(...given);
  await verify();
  return shop;
}
