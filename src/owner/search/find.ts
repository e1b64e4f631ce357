import { guides } from '../../docs/guides.ts';
import { listPlans } from '../../operations/list-plans.ts';
import { findRecord } from '../../platforms/source-ids.ts';
import { listSubscriptionsOfSessions } from '../../store/records/cancellations.ts';
import type { RecordKind } from '../../store/records/export-dates.ts';
import { ask } from '../ask.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { addressOf } from '../site.ts';
import { shopPath } from '../ui/layout.ts';

type Path = `/app${string}`;

export interface Result {
  readonly label: string;
  /** More about it. */
  readonly hint?: string | undefined;
  readonly path: Path | `/docs${string}`;
  /** The form of the frame that does it, by its id; it is a link otherwise. */
  readonly form?: string;
}

const signOut: Result = { path: '/app/sign-out', label: 'Sign out', form: 'sign-out' };

const ofDocs: readonly Result[] = [
  { path: '/docs', label: 'API reference', hint: 'Docs' },
  ...Object.values(guides)
    .flat()
    .map(({ name, title }): Result => ({ path: `/docs/${name}`, label: title, hint: 'Docs' })),
];

/** The pages and actions that have all words of a text; all of them for an empty text. */
export function findPages({ shop, site }: ShopVisit, text: string): Result[] {
  const pages = site.flatMap((page): Result[] => {
    const { label, hint } = page;
    return label === undefined ? [] : [{ label, hint, path: addressOf(page, shop) }];
  });
  const words = text.toLowerCase().split(/\s+/);
  return [...pages, signOut, ...ofDocs].filter(({ label, hint = '' }) => {
    const name = `${label} ${hint}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
}

interface Kind {
  readonly kind: RecordKind;
  /** What is found, by its number here. */
  describe(parts: OwnerParts, visit: ShopVisit, id: number): Promise<Result>;
}

const kinds: readonly Kind[] = [
  {
    kind: 'customer',
    describe: async (_, { shop }, id) => ({
      label: `Customer ${id}`,
      path: shopPath(shop, `/subscriptions?customer=${id}`),
    }),
  },
  {
    kind: 'subscription',
    describe: async (_, { shop }, id) => ({
      label: `Subscription ${id}`,
      path: shopPath(shop, `/subscriptions/${id}`),
    }),
  },
  {
    kind: 'plan',
    describe: async (parts, { shop }, id) => {
      const { plans } = await ask(parts, shop, listPlans);
      const name = plans.find((plan) => plan.id === id)?.name;
      return { label: `Plan ${id}`, hint: name, path: shopPath(shop, `/subscriptions?plan=${id}`) };
    },
  },
  {
    kind: 'cancellation',
    describe: async ({ store }, { shop }, id) => {
      const subscriptions = await store.readRecent(shop.id, (from) =>
        listSubscriptionsOfSessions(from.cancellations, shop.id, [id]),
      );
      const subscription = subscriptions.get(id);
      return {
        label: `Cancel-flow session ${id}`,
        hint: subscription === undefined ? undefined : `of subscription ${subscription}`,
        path: shopPath(
          shop,
          subscription === undefined ? '/cancel-flow' : `/subscriptions/${subscription}`,
        ),
      };
    },
  },
];

/** The records that have an id, here or at their source. Nothing personal is searched, as none is stored. */
export async function findRecords(
  parts: OwnerParts,
  visit: ShopVisit,
  text: string,
): Promise<Result[]> {
  if (text === '') return [];
  const found = await Promise.all(
    kinds.map(async ({ kind, describe }) => {
      const record = await findRecord(parts.store.write, visit.shop.id, kind, text);
      if (!record) return [];
      const result = await describe(parts, visit, record.id);
      return { ...result, hint: result.hint ?? record.sourceId ?? undefined };
    }),
  );
  return found.flat();
}
