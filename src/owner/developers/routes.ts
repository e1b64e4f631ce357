import type { Caller } from '../../access/gate.ts';
import { listAnsweredRequests } from '../../store/keys/requests.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import { isLive } from '../keys/pages.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { consolePage, fieldPrefix } from './console-page.ts';
import { listKeyChoices } from './keys.ts';
import { findOperation, firstOperation, parametersOf, sampleTexts, textsFor } from './requests.ts';
import { startPage } from './start-page.ts';
import { isUsagePeriod, usagePage, usagePeriods } from './usage-page.ts';

const base = '/developers';
const hourMilliseconds = 3_600_000;

/** The pages for developers, besides those of the keys and the log of requests. */
export function developerPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, calls } = parts;
  const endOf = (key: KeyListing) => {
    if (isLive(key, clock.now())) return undefined;
    return key.revokedAt ? 'revoked' : 'expired';
  };

  return [
    shopPage(base, {
      label: 'Developers',
      hint: 'Get started',
      navigation: { group: 'Integrate', icon: 'keys' },
      show: async (visit) => startPage(visit, parts.baseUrl(), await sampleTexts(parts, visit)),
    }),
    shopPage(`${base}/console`, {
      label: 'Console',
      hint: 'Developers',
      section: '/developers',
      async show(visit) {
        const [keys, samples] = await Promise.all([
          listKeyChoices(parts, visit.shop.id),
          sampleTexts(parts, visit),
        ]);
        const requested = visit.query.get('key') || undefined;
        const chosen = keys.find(({ id }) => id === requested);
        const tool = visit.query.get('operation') || undefined;
        const operation =
          tool === undefined ? firstOperation(chosen?.scopes ?? []) : findOperation(tool);
        if (!operation || (requested !== undefined && !chosen)) return notFoundPage(visit);
        const suitable = keys.find(({ scopes }) => scopes.includes(operation.scope));
        return consolePage(visit, {
          baseUrl: parts.baseUrl(),
          operation,
          keys,
          keyId: (chosen ?? suitable ?? keys[0])?.id,
          endOf,
          texts: textsFor(operation, samples),
        });
      },
      async submit(visit, form) {
        const keys = await listKeyChoices(parts, visit.shop.id);
        const key = keys.find(({ id }) => id === form.get('key'));
        const operation = findOperation(form.get('operation'));
        if (!key || !operation) return notFoundPage(visit);
        const fields = parametersOf(operation).map(({ name }): [string, string] => [
          name,
          form.get(fieldPrefix + name)?.trim() ?? '',
        ]);
        const texts = textsFor(operation, Object.fromEntries(fields));
        const caller = callerOf(visit, key);
        const requestId = visit.request.id;
        const startedAt = clock.monotonic();
        const answer = await parts.askWithKey(operation, caller, texts, requestId);
        const milliseconds = clock.monotonic() - startedAt;
        calls.note(caller, {
          requestId,
          transport: 'page',
          operation: operation.tool,
          status: answer.status,
          milliseconds,
        });
        return consolePage(visit, {
          baseUrl: parts.baseUrl(),
          operation,
          keys,
          keyId: key.id,
          endOf,
          texts,
          shown: { answer, requestId, milliseconds },
        });
      },
    }),
    shopPage(`${base}/usage`, {
      label: 'Usage',
      hint: 'Developers',
      section: '/developers',
      async show(visit) {
        const text = visit.query.get('period');
        const period = isUsagePeriod(text) ? text : '24h';
        const fromHour =
          Math.floor(clock.now() / hourMilliseconds) - usagePeriods[period].hours + 1;
        const [keys, requests] = await Promise.all([
          listKeyChoices(parts, visit.shop.id),
          listAnsweredRequests(store.write, visit.shop.id, fromHour),
        ]);
        return usagePage(visit, { period, keys, requests });
      },
    }),
  ];
}

/** The key as a request with it would be known. */
function callerOf({ shop }: ShopVisit, key: KeyListing): Caller {
  return {
    shopId: shop.id,
    keyId: key.id,
    scopes: key.scopes,
    tier: shop.tier,
    currency: shop.currency,
    lastUsedAt: key.lastUsedAt?.getTime() ?? 0,
    expiresAt: key.expiresAt?.getTime() ?? null,
    isRevoked: key.revokedAt !== null,
  };
}
