import {
  createPushSource,
  isSourceId,
  isVendorSecret,
  revokePushSource,
  rotatePushSource,
  secretSealing,
} from '../../door/sources.ts';
import type { Answer } from '../../http/answer.ts';
import { type PushSourceListing, listPushSources } from '../../store/door/sources.ts';
import { overlapHours } from '../keys/forms.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { redirect } from '../ui/answers.ts';
import { newVendorPage, rotateVendorPage, vendorSetupPage } from './vendor-pages.ts';
import { isVendor } from './vendors.ts';
import { shopPath } from '../ui/layout.ts';
import { nameProblem } from '../ui/name-field.ts';
import {
  createdPushPage,
  newPushPage,
  revokePushPage,
  rotatePushPage,
  standard,
} from './push-pages.ts';

const base = '/sources/push';

/** The sources of a shop that are not revoked. */
export async function readPushSources(
  { store, clock }: OwnerParts,
  shopId: number,
): Promise<PushSourceListing[]> {
  const sources = await listPushSources(store.write, shopId, clock.now());
  return sources.filter(({ revokedAt }) => revokedAt === null);
}

const backTo = ({ shop }: ShopVisit, done = '') =>
  redirect(shopPath(shop, `/sources${done === '' ? '' : `?done=${done}`}`));

/** The pages where owners create, rotate and revoke the sources that may push records. */
export function pushPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, log, platforms } = parts;
  const sealing = secretSealing(platforms.credentialsKeys);
  const sourceParts = { sql: store.write, clock, log, sealing };
  const find = async ({ shop, params }: ShopVisit) =>
    (await readPushSources(parts, shop.id)).find(({ sourceId }) => sourceId === params['sourceId']);

  return [
    shopPage(`${base}/new`, {
      label: 'Create push source',
      parent: '/sources',
      show: async (visit) => newPushPage(visit),
    }),
    shopPage(base, {
      parent: '/sources',
      async submit(visit, form) {
        const { shop, session } = visit;
        const name = (form.get('name') ?? '').trim();
        const sourceId = form.get('id') ?? '';
        if (!isSourceId(sourceId)) return newPushPage(visit);
        const kind = form.get('kind') ?? standard;
        const problem = problemOf(name, kind);
        if (problem !== undefined) return newPushPage(visit, { name, sourceId, kind, problem });
        const vendor = isVendor(kind) ? { scheme: kind, secret: secretOf(form) } : undefined;
        const place = { sourceId, name, baseUrl: parts.baseUrl() };
        if (vendor && !isVendorSecret(vendor.secret)) {
          const isAsked = form.get('step') === 'secret';
          return newVendorPage(visit, {
            ...place,
            ...vendor,
            problem: isAsked ? noSecret : undefined,
          });
        }
        const source = { name, sourceId, ...(vendor && { vendor }) };
        const created = await createPushSource(sourceParts, shop.id, session, source);
        if (created.kind === 'already') {
          return backTo(visit, vendor ? 'push-created' : 'push-already');
        }
        if (created.kind !== 'created') return backTo(visit);
        if (vendor) {
          const remark = 'Push source created. Messages are stored as they arrive.';
          return vendorSetupPage(visit, { ...place, scheme: vendor.scheme, remark });
        }
        return createdPushPage(visit, { ...created, sourceId, baseUrl: parts.baseUrl() });
      },
    }),
    shopPage(`${base}/:sourceId/rotate`, {
      parent: '/sources',
      async show(visit) {
        const source = await find(visit);
        return source ? rotatePage(visit, source, clock.now()) : notFoundPage(visit);
      },
      async submit(visit, form) {
        const source = await find(visit);
        if (!source) return notFoundPage(visit);
        const overlap = overlapHours.find((hours) => String(hours) === form.get('overlap'));
        if (overlap === undefined) return rotatePage(visit, source, clock.now());
        const given = isVendor(source.scheme) ? secretOf(form) : undefined;
        if (given !== undefined && !isVendorSecret(given))
          return rotatePage(visit, source, clock.now(), noSecret);
        const rotated = await rotatePushSource(sourceParts, source, overlap * 3_600_000, given);
        if (rotated.kind !== 'created') return backTo(visit);
        if (given !== undefined) return backTo(visit, 'push-rotated');
        const remark =
          overlap === 0
            ? 'The old secret has ended. Requests signed with it are refused.'
            : `The old secret works for ${overlap === 1 ? 'another hour' : `another ${overlap} hours`}.`;
        const { sourceId } = source;
        return createdPushPage(visit, { ...rotated, sourceId, baseUrl: parts.baseUrl(), remark });
      },
    }),
    shopPage(`${base}/:sourceId/setup`, {
      parent: '/sources',
      async show(visit) {
        const source = await find(visit);
        if (!source || !isVendor(source.scheme)) return notFoundPage(visit);
        const { sourceId, name, scheme } = source;
        return vendorSetupPage(visit, { sourceId, name, scheme, baseUrl: parts.baseUrl() });
      },
    }),
    shopPage(`${base}/:sourceId/revoke`, {
      parent: '/sources',
      async show(visit) {
        const source = await find(visit);
        return source ? revokePushPage(visit, source) : notFoundPage(visit);
      },
      async submit(visit) {
        const { shop, params } = visit;
        const source = { shopId: shop.id, sourceId: params['sourceId'] ?? '' };
        const isKnown = await revokePushSource(sourceParts, source);
        return isKnown ? backTo(visit, 'push-revoked') : notFoundPage(visit);
      },
    }),
  ];
}

function problemOf(name: string, kind: string): string | undefined {
  if (kind !== standard && !isVendor(kind)) return 'Choose what sends, from the list.';
  return nameProblem(name, 'source');
}

const noSecret = 'Paste the secret as the vendor shows it: 8 to 500 characters without spaces.';

function secretOf(form: URLSearchParams): string {
  return (form.get('secret') ?? '').trim();
}

function rotatePage(
  visit: ShopVisit,
  source: PushSourceListing,
  now: number,
  problem?: string,
): Answer {
  const { scheme } = source;
  return isVendor(scheme)
    ? rotateVendorPage(visit, { ...source, scheme }, now, problem)
    : rotatePushPage(visit, source, now);
}
