import { setTimeout as sleep } from 'node:timers/promises';
import { expiryAfter, policyProblem, setKeyPolicy } from '../../access/keys/key-policy.ts';
import { apiKeys, setKeyNetworks } from '../../access/keys/keys.ts';
import { leaseDrainMilliseconds } from '../../access/keys/key-leases.ts';
import { isScope } from '../../access/scopes.ts';
import { createSecret, revokeSecret, rotateSecret } from '../../access/secrets.ts';
import { networkProblem, splitNetworks } from '../../config/networks.ts';
import { type KeyListing, listKeys } from '../../store/keys/keys.ts';
import type { KeyPolicy } from '../../store/shops.ts';
import { sampleTexts } from '../developers/requests.ts';
import { backTo, redirect } from '../ui/page.ts';
import { notFoundPage } from '../message-pages.ts';
import { recordPage } from '../record-page.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import {
  type KeyProblem,
  createdKeyPage,
  networksPage,
  newKeyPage,
  readExpiry,
  revokeKeyPage,
  rotateKeyPage,
} from './forms.ts';
import { readPolicy } from './policy.ts';
import { newKeyLetters } from './letters.ts';
import { type RefusedPolicy, keysPage, withLinks } from './list.ts';
import { nameProblem, readOverlap } from '../ui/fields.ts';
import type { Tier } from '../../vocabulary.ts';
import { shopPath } from '../site.ts';
import { isLive } from '../developers/frame.ts';

const base = '/keys';

/** The pages where owners manage the keys of a shop. */
export function keyPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, log } = parts;
  const keyParts = { sql: store.write, clock, log };
  /** Includes the last use that this process knows of, if it is later than the stored one. */
  const list = async (shopId: number) => {
    const keys = (await listKeys(store.write, shopId)).map((key): KeyListing => {
      const known = parts.calls.lastUsedAt(shopId, key.id) ?? 0;
      const isLater = known > (key.lastUsedAt?.getTime() ?? 0);
      return isLater ? { ...key, lastUsedAt: new Date(known) } : key;
    });
    return withLinks(keys);
  };
  const mailNewKey = (visit: ShopVisit, key: Parameters<typeof newKeyLetters>[2]) =>
    parts.outbox.post('a new key', () => {
      const about = { shop: visit.shop, baseUrl: parts.baseUrl() };
      return newKeyLetters(store.write, about, key, actorOf(visit));
    });
  const showKeys = async (visit: ShopVisit, refused?: RefusedPolicy) =>
    keysPage(parts, visit, (await list(visit.shop.id)).toReversed(), refused);
  const find = async ({ shop, params }: ShopVisit) =>
    (await list(shop.id)).find(({ id }) => id === params['keyId']);

  return [
    shopPage(base, {
      right: 'integration',
      submitRight: 'ownership',
      acts: ['key_created'],
      stepUp: 'form',
      label: 'API keys',
      hint: 'Developers',
      section: '/developers',
      show: (visit) => showKeys(visit),
      async submit(visit, form) {
        const { shop } = visit;
        const name = (form.get('name') ?? '').trim();
        const scopes = [...new Set(form.getAll('scope'))].filter(isScope);
        const id = form.get('id') ?? '';
        if (!apiKeys.isId(id)) return newKeyPage(visit);
        const expiry = readExpiry(form, shop);
        const typed = form.get('networks') ?? '';
        const networks = splitNetworks(typed);
        const filled = { name, scopes, networks: typed, id, expiry };
        const problem = problemOf({ name, scopes }, form, shop);
        if (problem) return newKeyPage(visit, filled, problem);

        // Before the key exists: it is shown only once, so nothing may fail after this.
        const samples = await sampleTexts(parts, visit);
        const request = { name, scopes, networks, expiresAt: expiryAfter(expiry, clock) };
        const created = await createSecret(apiKeys, keyParts, targetOf(visit, id), request);
        if (created.kind === 'locked') return newKeyPage(onTier(visit, created.tier));
        if (created.kind !== 'created') return backTo(visit, base, created.kind);
        mailNewKey(visit, request);
        const { secret } = created;
        const baseUrl = parts.baseUrl();
        return createdKeyPage(visit, { id, secret, name, scopes, baseUrl, samples });
      },
    }),
    shopPage(`${base}/new`, {
      right: 'ownership',
      stepUp: 'open',
      label: 'Create key',
      section: '/developers',
      show: async (visit) => newKeyPage(visit),
    }),
    shopPage(`${base}/policy`, {
      right: 'ownership',
      acts: ['key_policy_set'],
      stepUp: 'form',
      section: '/developers',
      async submit(visit, form) {
        const { shop } = visit;
        const policy = readPolicy(form);
        if (!policy) return backTo(visit, base);
        const problem = policyProblem(policy);
        if (problem !== undefined) return showKeys(visit, { policy, problem });
        await setKeyPolicy(keyParts, { shopId: shop.id, actor: actorOf(visit) }, policy);
        return backTo(visit, base, 'policy');
      },
    }),
    recordPage(`${base}/:keyId/networks`, find, {
      right: 'ownership',
      acts: ['key_networks_set'],
      stepUp: 'open',
      section: '/developers',
      show: (visit, key) => networksPage(visit, key),
      async submit(visit, key, form) {
        const typed = form.get('networks') ?? '';
        const networks = splitNetworks(typed);
        const problem = networkProblem(typed);
        if (problem !== undefined) return networksPage(visit, key, typed, problem);
        const isKnown = await setKeyNetworks(keyParts, targetOf(visit, key.id), networks);
        if (!isKnown) return backTo(visit, base);
        await sleep(leaseDrainMilliseconds);
        return backTo(visit, base, 'networks');
      },
    }),
    recordPage(`${base}/:keyId/revoke`, find, {
      right: 'integration',
      acts: ['key_revoked'],
      section: '/developers',
      show: (visit, key) =>
        isLive(key, clock.now()) ? revokeKeyPage(visit, key, clock.now()) : backTo(visit, base),
      async submit(visit, { id }) {
        const isKnown = await revokeSecret(apiKeys, keyParts, targetOf(visit, id));
        if (!isKnown) return notFoundPage(visit);
        await sleep(leaseDrainMilliseconds);
        return redirect(shopPath(visit.shop, `${base}?done=revoked&key=${id}`));
      },
    }),
    recordPage(`${base}/:keyId/rotate`, find, {
      right: 'ownership',
      acts: ['key_rotated'],
      stepUp: 'open',
      section: '/developers',
      show(visit, key) {
        const canRotate = isLive(key, clock.now()) && key.replacedBy === null;
        return canRotate ? rotateKeyPage(visit, key) : backTo(visit, base);
      },
      async submit(visit, key, form) {
        const { shop } = visit;
        const newId = form.get('id') ?? '';
        const overlap = readOverlap(form);
        const expiry = readExpiry(form, shop);
        const problem =
          !apiKeys.isId(newId) || overlap === undefined
            ? 'Choose when the old key expires.'
            : expiryProblem(form, shop);
        if (problem !== undefined || overlap === undefined) {
          return rotateKeyPage(visit, key, { expiry, problem });
        }
        const samples = await sampleTexts(parts, visit);
        const newExpiresAt = expiryAfter(expiry, clock);
        const rotated = await rotateSecret(apiKeys, keyParts, targetOf(visit, key.id), {
          newId,
          newExpiresAt,
          overlapMilliseconds: overlap * 3_600_000,
        });
        if (rotated.kind === 'locked') return rotateKeyPage(onTier(visit, rotated.tier), key);
        if (rotated.kind !== 'created') return backTo(visit, base, rotated.kind);
        mailNewKey(visit, { ...key, expiresAt: newExpiresAt });
        if (overlap === 0) await sleep(leaseDrainMilliseconds);
        const old = (await find(visit)) ?? key;
        const made = { ...key, id: newId, secret: rotated.secret };
        return createdKeyPage(visit, { ...made, baseUrl: parts.baseUrl(), samples, old });
      },
    }),
  ];
}

const targetOf = (visit: ShopVisit, id: string) => ({
  shopId: visit.shop.id,
  id,
  actor: actorOf(visit),
});

/** The visit with the shop's current tier, which may have changed in the meantime. */
function onTier(visit: ShopVisit, tier: Tier): ShopVisit {
  return { ...visit, shop: { ...visit.shop, tier } };
}

/** Anything that cannot be chosen is a mistake, which must not give a key that never expires. */
function expiryProblem(form: URLSearchParams, policy: KeyPolicy): string | undefined {
  const { keyMaxDays } = policy;
  const isNever = (form.get('expiry') ?? '') === '' && !keyMaxDays;
  if (isNever || readExpiry(form, policy) !== undefined) return undefined;
  const rule = keyMaxDays ? `, after ${keyMaxDays} days at the latest` : '';
  return `Choose when the key expires${rule}.`;
}

function problemOf(
  { name, scopes }: Pick<KeyListing, 'name' | 'scopes'>,
  form: URLSearchParams,
  policy: KeyPolicy,
): KeyProblem | undefined {
  const problems: readonly (readonly [KeyProblem['field'], string | undefined])[] = [
    ['name', nameProblem(name, 'key')],
    ['scope', scopes.length === 0 ? 'Choose at least one permission.' : undefined],
    ['networks', networkProblem(form.get('networks') ?? '')],
    ['expiry', expiryProblem(form, policy)],
  ];
  const [field, text] = problems.find(([, problem]) => problem !== undefined) ?? [];
  return field && text !== undefined ? { field, text } : undefined;
}
