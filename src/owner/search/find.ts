import { listPlans } from '../../operations/list-plans.ts';
import { findRecord } from '../../platforms/source-ids.ts';
import { listSubscriptionsOfSessions } from '../../store/records/cancellations.ts';
import type { RecordKind } from '../../store/records/tables.ts';
import { ask } from '../ask.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { shopPages, shopPath } from '../ui/layout.ts';

type Path = `/app${string}`;

export interface Result {
  readonly label: string;
  /** More about it. */
  readonly hint?: string | undefined;
  readonly path: Path;
}

const actions = [
  { path: '/keys/new', label: 'Create key' },
  { path: '/sources/push/new', label: 'Create push source' },
];

/** The pages and actions whose names have the text; all of them for an empty text. */
export function findPages({ shop }: ShopVisit, text: string): Result[] {
  const all: Result[] = [
    ...[...Object.values(shopPages), ...actions].map(({ path, label }) => ({
      label,
      path: shopPath(shop, path),
    })),
    { label: 'Account', path: '/app/account' },
    { label: 'Your shops', path: '/app/shops' },
  ];
  return all.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
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
      return { label: `Plan ${id}`, hint: name, path: shopPath(shop, '/subscriptions') };
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
