import { setTimeout as sleep } from 'node:timers/promises';
import { keyActs } from '../../acts.ts';
import { apiKeys } from '../../access/keys/keys.ts';
import { leaseDrainMilliseconds } from '../../access/keys/key-leases.ts';
import { isScope } from '../../access/scopes.ts';
import { createSecret, revokeSecret, rotateSecret } from '../../access/secrets.ts';
import type { Clock } from '../../clock.ts';
import { listKeyRequests } from '../../store/keys/requests.ts';
import { listEntries, listPeople } from '../../store/owners/audit.ts';
import { type KeyListing, listKeys } from '../../store/keys/keys.ts';
import { sampleTexts } from '../developers/requests.ts';
import { redirect } from '../ui/page.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import {
  type Expiry,
  type KeyProblem,
  createdKeyPage,
  expiryDays,
  newKeyPage,
  revokeKeyPage,
  rotateKeyPage,
} from './forms.ts';
import { keysPage, firstHour } from './list.ts';
import { nameProblem, overlapRemark, readOverlap } from '../ui/fields.ts';
import type { Tier } from '../../vocabulary.ts';
import { shopPath } from '../site.ts';
import { isLive } from '../developers/frame.ts';

const base = '/keys';
const logEntries = 50;

/** The pages where owners manage the keys of a shop. */
export function keyPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, log } = parts;
  const keyParts = { sql: store.write, clock, log };
  /** Includes the last use that this process knows of, if it is later than the stored one. */
  const list = async (shopId: number) =>
    (await listKeys(store.write, shopId)).map((key): KeyListing => {
      const known = parts.calls.lastUsedAt(shopId, key.id) ?? 0;
      const isLater = known > (key.lastUsedAt?.getTime() ?? 0);
      return isLater ? { ...key, lastUsedAt: new Date(known) } : key;
    });
  const find = async ({ shop, params }: ShopVisit) =>
    (await list(shop.id)).find(({ id }) => id === params['keyId']);

  return [
    shopPage(base, {
      right: 'integration',
      submitRight: 'ownership',
      acts: ['key_created'],
      stepUp: 'form',
      label: 'Keys',
      hint: 'Developers',
      section: '/developers',
      async show(visit) {
        const { id } = visit.shop;
        const now = clock.now();
        const [keys, entries, requests] = await Promise.all([
          list(id),
          listEntries(store.write, id, { what: keyActs, limit: logEntries }),
          listKeyRequests(store.write, id, firstHour(now)),
        ]);
        const activity = { entries, people: await listPeople(store.write, entries) };
        return keysPage(visit, { keys: keys.toReversed(), activity, requests, now });
      },
      async submit(visit, form) {
        const { shop } = visit;
        const name = (form.get('name') ?? '').trim();
        const scopes = [...new Set(form.getAll('scope'))].filter(isScope);
        const id = form.get('id') ?? '';
        if (!apiKeys.isId(id)) return newKeyPage(visit);
        const expiry = readExpiry(form);
        const problem = problemOf(name, scopes, form);
        if (problem) return newKeyPage(visit, { name, scopes, id, expiry, problem });

        // Before the key exists: it is shown only once, so nothing may fail after this.
        const samples = await sampleTexts(parts, visit);
        const target = { shopId: shop.id, id, actor: actorOf(visit) };
        const request = { name, scopes, expiresAt: expiresAt(expiry, clock) };
        const created = await createSecret(apiKeys, keyParts, target, request);
        if (created.kind === 'locked') return newKeyPage(onTier(visit, created.tier));
        if (created.kind !== 'created')
          return redirect(shopPath(shop, `/keys?done=${created.kind}`));
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
    shopPage(`${base}/:keyId/revoke`, {
      right: 'integration',
      acts: ['key_revoked'],
      section: '/developers',
      async show(visit) {
        const key = await find(visit);
        if (!key) return notFoundPage(visit);
        return isLive(key, clock.now())
          ? revokeKeyPage(visit, key)
          : redirect(shopPath(visit.shop, '/keys'));
      },
      async submit(visit) {
        const { shop, params } = visit;
        const keyId = params['keyId'] ?? '';
        const target = { shopId: shop.id, id: keyId, actor: actorOf(visit) };
        if (!(await revokeSecret(apiKeys, keyParts, target))) return notFoundPage(visit);
        await sleep(leaseDrainMilliseconds);
        return redirect(shopPath(shop, `/keys?done=revoked&key=${keyId}`));
      },
    }),
    shopPage(`${base}/:keyId/rotate`, {
      right: 'ownership',
      acts: ['key_rotated'],
      stepUp: 'open',
      section: '/developers',
      async show(visit) {
        const key = await find(visit);
        if (!key) return notFoundPage(visit);
        const canRotate = isLive(key, clock.now()) && key.replacedBy === null;
        return canRotate ? rotateKeyPage(visit, key) : redirect(shopPath(visit.shop, '/keys'));
      },
      async submit(visit, form) {
        const { shop } = visit;
        const key = await find(visit);
        if (!key) return notFoundPage(visit);
        const newId = form.get('id') ?? '';
        const overlap = readOverlap(form);
        const expiry = readExpiry(form);
        const problem =
          !apiKeys.isId(newId) || overlap === undefined
            ? 'Choose when the old key expires.'
            : expiryProblem(form);
        if (problem !== undefined || overlap === undefined) {
          return rotateKeyPage(visit, key, { expiry, problem });
        }
        const samples = await sampleTexts(parts, visit);
        const target = { shopId: shop.id, id: key.id, actor: actorOf(visit) };
        const rotated = await rotateSecret(apiKeys, keyParts, target, {
          newId,
          newExpiresAt: expiresAt(expiry, clock),
          overlapMilliseconds: overlap * 3_600_000,
        });
        if (rotated.kind === 'locked') return rotateKeyPage(onTier(visit, rotated.tier), key);
        if (rotated.kind !== 'created')
          return redirect(shopPath(shop, `/keys?done=${rotated.kind}`));
        if (overlap === 0) await sleep(leaseDrainMilliseconds);
        const ended = 'has been revoked. Requests with it are refused.';
        const remark = overlapRemark('key', overlap, ended);
        const made = { ...key, id: newId, secret: rotated.secret };
        return createdKeyPage(visit, { ...made, baseUrl: parts.baseUrl(), samples, remark });
      },
    }),
  ];
}

/** The visit with the shop's current tier, which may have changed in the meantime. */
function onTier(visit: ShopVisit, tier: Tier): ShopVisit {
  return { ...visit, shop: { ...visit.shop, tier } };
}

function readExpiry(form: URLSearchParams): Expiry {
  return expiryDays.find((days) => String(days) === form.get('expiry'));
}

/** Anything that cannot be chosen is a mistake, which must not give a key that never expires. */
function expiryProblem(form: URLSearchParams): string | undefined {
  const isChoice = readExpiry(form) !== undefined || (form.get('expiry') ?? '') === '';
  return isChoice ? undefined : 'Choose when the key expires.';
}

/** When the key expires; null for never. */
function expiresAt(days: Expiry, clock: Clock): Date | null {
  return days === undefined ? null : new Date(clock.now() + days * 86_400_000);
}

function problemOf(
  name: string,
  scopes: readonly unknown[],
  form: URLSearchParams,
): KeyProblem | undefined {
  const text = nameProblem(name, 'key');
  if (text !== undefined) return { field: 'name', text };
  if (scopes.length === 0) return { field: 'scope', text: 'Choose at least one permission.' };
  const unclear = expiryProblem(form);
  return unclear === undefined ? undefined : { field: 'expiry', text: unclear };
}
