import {
  createPushSource,
  isSourceId,
  revokePushSource,
  rotatePushSource,
  secretSealing,
} from '../../door/sources.ts';
import type { Route } from '../../http/shell.ts';
import { type PushSourceListing, listPushSources } from '../../store/door/sources.ts';
import { overlapHours } from '../keys/forms.ts';
import { type OwnerParts, type Pages, type ShopVisit, notFoundPage } from '../pages.ts';
import { redirect } from '../ui/answers.ts';
import { shopPath } from '../ui/layout.ts';
import { nameProblem } from '../ui/name-field.ts';
import { createdPushPage, newPushPage, revokePushPage, rotatePushPage } from './push-pages.ts';

const base = '/app/shops/:shopId/sources/push';

/** The sources of a shop that are not revoked. */
export async function readPushSources(
  { store }: OwnerParts,
  shopId: number,
): Promise<PushSourceListing[]> {
  const sources = await listPushSources(store.write, shopId);
  return sources.filter(({ revokedAt }) => revokedAt === null);
}

const backTo = ({ shop }: ShopVisit, done = '') =>
  redirect(shopPath(shop, `/sources${done === '' ? '' : `?done=${done}`}`));

/** The pages where owners create, rotate and revoke the sources that may push records. */
export function pushRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock, log, platforms } = parts;
  const sealing = secretSealing(platforms.credentialsKeys);
  const sourceParts = { sql: store.write, clock, log, sealing };
  const find = async ({ shop, params }: ShopVisit) =>
    (await readPushSources(parts, shop.id)).find(({ sourceId }) => sourceId === params['sourceId']);

  return [
    pages.shopPage(`${base}/new`, async (visit) => newPushPage(visit)),
    pages.shopForm(base, async (visit, form) => {
      const { shop, session } = visit;
      const name = (form.get('name') ?? '').trim();
      const sourceId = form.get('id') ?? '';
      if (!isSourceId(sourceId)) return newPushPage(visit);
      const problem = nameProblem(name, 'source');
      if (problem !== undefined) return newPushPage(visit, { name, sourceId, problem });
      const created = await createPushSource(sourceParts, shop.id, session, { name, sourceId });
      if (created.kind === 'already') return backTo(visit, 'push-already');
      if (created.kind !== 'created') return backTo(visit);
      return createdPushPage(visit, { ...created, sourceId, baseUrl: parts.baseUrl() });
    }),
    pages.shopPage(`${base}/:sourceId/rotate`, async (visit) => {
      const source = await find(visit);
      return source?.scheme === 'standard' ? rotatePushPage(visit, source) : notFoundPage();
    }),
    pages.shopForm(`${base}/:sourceId/rotate`, async (visit, form) => {
      const source = await find(visit);
      // The operator replaces a vendor's secret, which the vendor makes.
      if (source?.scheme !== 'standard') return notFoundPage();
      const overlap = overlapHours.find((hours) => String(hours) === form.get('overlap'));
      if (overlap === undefined) return rotatePushPage(visit, source);
      const rotated = await rotatePushSource(sourceParts, source, overlap * 3_600_000);
      if (rotated.kind !== 'created') return backTo(visit);
      const remark =
        overlap === 0
          ? 'The old secret has ended. Requests signed with it are refused.'
          : `The old secret works for ${overlap === 1 ? 'another hour' : `another ${overlap} hours`}.`;
      const { sourceId } = source;
      return createdPushPage(visit, { ...rotated, sourceId, baseUrl: parts.baseUrl(), remark });
    }),
    pages.shopPage(`${base}/:sourceId/revoke`, async (visit) => {
      const source = await find(visit);
      return source ? revokePushPage(visit, source) : notFoundPage();
    }),
    pages.shopForm(`${base}/:sourceId/revoke`, async (visit) => {
      const { shop, params } = visit;
      const source = { shopId: shop.id, sourceId: params['sourceId'] ?? '' };
      const isKnown = await revokePushSource(sourceParts, source);
      return isKnown ? backTo(visit, 'push-revoked') : notFoundPage();
    }),
  ];
}
