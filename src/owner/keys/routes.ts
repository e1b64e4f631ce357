import { setTimeout as sleep } from 'node:timers/promises';
import { isKeyId } from '../../access/keys/create-key.ts';
import { leaseDrainMilliseconds } from '../../access/keys/key-leases.ts';
import { isScope } from '../../access/scopes.ts';
import type { Tier } from '../../access/tiers.ts';
import type { Clock } from '../../clock.ts';
import type { Route } from '../../http/shell.ts';
import { listKeyRequests } from '../../store/keys/key-requests.ts';
import { type KeyListing, listKeys } from '../../store/keys/keys.ts';
import { listLog } from '../../store/keys/key-log.ts';
import { redirect } from '../ui/answers.ts';
import { type Pages, type OwnerParts, type ShopVisit, notFoundPage } from '../pages.ts';
import {
  createdKeyPage,
  expiryDays,
  keyNameLength,
  newKeyPage,
  overlapHours,
  revokeKeyPage,
  rotateKeyPage,
} from './forms.ts';
import { isLive, keysPage } from './pages.ts';
import { firstHour } from './use.ts';
import { revokeKey, createKey, rotateKey } from '../../access/keys/keys.ts';
import { shopPath } from '../ui/layout.ts';

const base = '/app/shops/:shopId/keys';
const logEntries = 50;

/** What a shop's owners do with its keys. */
export function keyRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock, log, usage } = parts;
  const ending = { sql: store.write, clock, log };
  /** With their last use as this process knows it, where that is later than what is stored. */
  const list = async (shopId: number) =>
    (await listKeys(store.write, shopId)).map((key): KeyListing => {
      const known = usage.lastUsedAt(shopId, key.id) ?? 0;
      const isLater = known > (key.lastUsedAt?.getTime() ?? 0);
      return isLater ? { ...key, lastUsedAt: new Date(known) } : key;
    });
  const find = async ({ shop, params }: ShopVisit) =>
    (await list(shop.id)).find(({ id }) => id === params['keyId']);

  return [
    pages.shops(base, async (visit) => {
      const { id } = visit.shop;
      const now = clock.now();
      const [keys, entries, requests] = await Promise.all([
        list(id),
        listLog(store.write, id, logEntries),
        listKeyRequests(store.write, id, firstHour(now)),
      ]);
      return keysPage(visit, { keys: keys.toReversed(), log: entries, requests, now });
    }),
    pages.shops(`${base}/new`, async (visit) => newKeyPage(visit)),
    pages.shopsForm(base, async (visit, form) => {
      const { shop, session } = visit;
      const name = (form.get('name') ?? '').trim();
      const scopes = [...new Set(form.getAll('scope'))].filter(isScope);
      const id = form.get('id') ?? '';
      if (!isKeyId(id)) return newKeyPage(visit);
      const problem = problemOf(name, scopes);
      if (problem !== undefined) return newKeyPage(visit, { name, scopes, id, problem });

      const made = await createKey(store.write, clock, shop.id, session, {
        name,
        scopes,
        id,
        expiresAt: expiryOf(form, clock),
      });
      if (made.kind === 'locked') return newKeyPage(onTier(visit, made.tier));
      if (made.kind === 'already') return redirect(shopPath(shop, '/keys?done=already'));
      return createdKeyPage(visit, { key: made.key, name, scopes, baseUrl: parts.baseUrl() });
    }),
    pages.shops(`${base}/:keyId/revoke`, async (visit) => {
      const key = await find(visit);
      if (!key) return notFoundPage();
      return isLive(key, clock.now())
        ? revokeKeyPage(visit, key)
        : redirect(shopPath(visit.shop, '/keys'));
    }),
    pages.shopsForm(`${base}/:keyId/revoke`, async ({ shop, session, params }) => {
      const keyId = params['keyId'] ?? '';
      if (!(await revokeKey(ending, shop.id, session, keyId))) return notFoundPage();
      await sleep(leaseDrainMilliseconds);
      return redirect(shopPath(shop, `/keys?done=revoked&key=${keyId}`));
    }),
    pages.shops(`${base}/:keyId/rotate`, async (visit) => {
      const key = await find(visit);
      if (!key) return notFoundPage();
      const canRotate = isLive(key, clock.now()) && key.replacedBy === null;
      return canRotate ? rotateKeyPage(visit, key) : redirect(shopPath(visit.shop, '/keys'));
    }),
    pages.shopsForm(`${base}/:keyId/rotate`, async (visit, form) => {
      const { shop, session } = visit;
      const key = await find(visit);
      if (!key) return notFoundPage();
      const newId = form.get('id') ?? '';
      const overlap = overlapHours.find((hours) => String(hours) === form.get('overlap'));
      if (!isKeyId(newId) || overlap === undefined) return rotateKeyPage(visit, key);
      const rotated = await rotateKey(ending, shop.id, session, {
        keyId: key.id,
        newId,
        newExpiresAt: expiryOf(form, clock),
        overlapMilliseconds: overlap * 3_600_000,
      });
      if (rotated.kind === 'locked') return rotateKeyPage(onTier(visit, rotated.tier), key);
      if (rotated.kind !== 'created') return redirect(shopPath(shop, `/keys?done=${rotated.kind}`));
      if (overlap === 0) await sleep(leaseDrainMilliseconds);
      const remark =
        overlap === 0
          ? 'The old key has ended: requests with it are refused.'
          : `The old key works for ${overlap === 1 ? 'another hour' : `another ${overlap} hours`}.`;
      return createdKeyPage(visit, { ...rotated, baseUrl: parts.baseUrl(), remark });
    }),
  ];
}

/** A visit to a shop whose tier may have changed since the visit began. */
function onTier(visit: ShopVisit, tier: Tier): ShopVisit {
  return { ...visit, shop: { ...visit.shop, tier } };
}

/** When a key is to end by itself; null for never. */
function expiryOf(form: URLSearchParams, clock: Clock): Date | null {
  const days = expiryDays.find((each) => String(each) === form.get('expiry'));
  return days === undefined ? null : new Date(clock.now() + days * 86_400_000);
}

function problemOf(name: string, scopes: readonly unknown[]): string | undefined {
  if (name === '') return 'Give the key a name, so that you know it again.';
  if (name.length > keyNameLength) return `Use at most ${keyNameLength} characters for the name.`;
  if (scopes.length === 0) return 'Choose at least one thing that the key may do.';
  return undefined;
}
