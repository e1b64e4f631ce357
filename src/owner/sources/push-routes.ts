import { createSecret, revokeSecret, rotateSecret } from '../../access/secrets.ts';
import { isVendorSecret, pushSources, secretSealing } from '../../push/sources.ts';
import { type PushSourceListing, listPushSources } from '../../store/push/sources.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { redirect } from '../ui/answers.ts';
import { shopPath } from '../ui/layout.ts';
import { nameProblem } from '../ui/name-field.ts';
import { overlapRemark, readOverlap } from '../ui/overlap.ts';
import {
  createdPushPage,
  newPushPage,
  newVendorPage,
  revokePushPage,
  rotatePushPage,
  standard,
  vendorSetupPage,
} from './push-forms.ts';
import { isVendor } from './vendors.ts';

const base = '/sources/push';

/** The sources of a shop that are not revoked. */
export async function readPushSources(
  { store, clock }: OwnerParts,
  shopId: number,
): Promise<PushSourceListing[]> {
  const sources = await listPushSources(store.write, shopId, clock.now());
  return sources.filter(({ revokedAt }) => revokedAt === null);
}

const backTo = ({ shop }: ShopVisit, done?: string) =>
  redirect(shopPath(shop, done === undefined ? '/sources' : `/sources?done=${done}`));

/** The pages where owners create, rotate and revoke the sources that may push records. */
export function pushPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, log, platforms } = parts;
  const sealing = secretSealing(platforms.credentialsKeys);
  const sourceParts = { sql: store.write, clock, log };
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
        if (!pushSources.isId(sourceId)) return newPushPage(visit);
        const kind = form.get('kind') ?? standard;
        const problem = problemOf(name, kind);
        if (problem !== undefined) return newPushPage(visit, { name, sourceId, kind, problem });
        const scheme = isVendor(kind) ? kind : undefined;
        const baseUrl = parts.baseUrl();
        if (scheme && !isVendorSecret(secretOf(form))) {
          const wrong = form.get('step') === 'secret' ? noSecret : undefined;
          return newVendorPage(visit, { scheme, sourceId, name, baseUrl }, wrong);
        }
        const target = { shopId: shop.id, id: sourceId, actor: session };
        const request = { name, scheme, given: scheme && secretOf(form), sealing };
        const created = await createSecret(pushSources, sourceParts, target, request);
        if (created.kind === 'already') {
          return backTo(visit, scheme ? 'push-created' : 'push-already');
        }
        if (created.kind !== 'created') return backTo(visit);
        if (scheme) {
          const remark = 'Push source created. Messages are stored as they arrive.';
          return vendorSetupPage(visit, { scheme, sourceId, name, baseUrl }, remark);
        }
        return createdPushPage(visit, { ...created, sourceId, baseUrl });
      },
    }),
    shopPage(`${base}/:sourceId/rotate`, {
      parent: '/sources',
      async show(visit) {
        const source = await find(visit);
        return source ? rotatePushPage(visit, source, clock.now()) : notFoundPage(visit);
      },
      async submit(visit, form) {
        const source = await find(visit);
        if (!source) return notFoundPage(visit);
        const overlap = readOverlap(form);
        if (overlap === undefined) return rotatePushPage(visit, source, clock.now());
        const given = isVendor(source.scheme) ? secretOf(form) : undefined;
        if (given !== undefined && !isVendorSecret(given)) {
          return rotatePushPage(visit, source, clock.now(), noSecret);
        }
        const { shopId, sourceId } = source;
        const target = { shopId, id: sourceId, actor: visit.session };
        const renewal = { given, sealing, overlapMilliseconds: overlap * 3_600_000 };
        const rotated = await rotateSecret(pushSources, sourceParts, target, renewal);
        if (rotated.kind !== 'created') return backTo(visit);
        if (given !== undefined) return backTo(visit, 'push-rotated');
        const ended = 'has ended. Requests signed with it are refused.';
        const remark = overlapRemark('secret', overlap, ended);
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
        const { shop, session, params } = visit;
        const target = { shopId: shop.id, id: params['sourceId'] ?? '', actor: session };
        const isKnown = await revokeSecret(pushSources, sourceParts, target);
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
