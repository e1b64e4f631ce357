import { type Html, html } from '../../http/html.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { page, searchForm } from '../ui/page.ts';
import { allGuides, guidePath } from '../../docs/guides.ts';
import { getEntitlements } from '../../operations/get-entitlements.ts';
import { listPlans } from '../../operations/list-plans.ts';
import { findRecord } from '../../platforms/source-ids.ts';
import { listSubscriptionsOfSessions } from '../../store/records/cancellations.ts';
import type { RecordKind } from '../../store/records/export-dates.ts';
import { ask } from '../ask.ts';
import { homeLink, showId, withHomes } from '../framework/homes.ts';
import { find as findSubscription } from '../subscriptions/page.ts';
import { countOf, formatDay } from '../ui/formats.ts';
import { statusLabels } from '../ui/labels.ts';
import { may } from '../../accounts/rights.ts';
import { type Path, addressOf, isOfShop, shopPath } from '../site.ts';

/** The search of a shop's pages and records. */
export function searchPages(parts: OwnerParts): OwnerPage[] {
  return [
    shopPage('/search', {
      right: 'member',
      async show(visit) {
        const { shop, query } = visit;
        const asked = (query.get('q') ?? '').trim().slice(0, 200);
        const hasFigures = may(shop.role, 'figures');
        const records = hasFigures ? await findRecords(parts, visit, asked) : [];
        const results = resultList(asked, [...records, ...findPages(visit, asked)]);
        const content = searchForm(shop, asked, results);
        return page(visit, { title: 'Search', content });
      },
    }),
  ];
}

function resultList(asked: string, results: readonly Result[]): Html {
  if (results.length === 0) {
    return html`<p>
      Nothing found for “${asked}”. You can search for pages and actions by their names, and for
      customers, subscriptions, plans and cancel-flow sessions by our number or the id at the
      source. Customers’ names are not stored here, so they cannot be found; nor are email
      addresses, but one finds its customer if the source has it for the customer’s id.
    </p>`;
  }
  const count = results.length === 1 ? '1 result' : `${results.length} results`;
  return html`<p class="quiet">${count}</p>
    <ul>
      ${results.map(
        ({ label, hint, path, form, home }) =>
          html`<li>
            ${
              form
                ? html`<button class="plain" form="${form}">${label}</button>`
                : html`<a href="${path}"
                    >${label} ${hint && html`<span class="quiet">${hint}</span>`}</a
                  >`
            }
            ${home}
          </li>`,
      )}
    </ul>`;
}

interface Result {
  readonly label: string;
  /** More about it. */
  readonly hint?: string | undefined;
  readonly path: Path | `/docs${string}`;
  /** A link to its page at the platform. */
  readonly home?: Html | undefined;
  /** The form of the frame that does it, by its id; it is a link otherwise. */
  readonly form?: string;
}

const signOut: Result = { path: '/app/sign-out', label: 'Sign out', form: 'sign-out' };

const ofDocs: readonly Result[] = [
  { path: '/docs/reference', label: 'API reference', hint: 'Docs' },
  ...allGuides.map((guide) => ({ path: guidePath(guide), label: guide.title, hint: 'Docs' })),
];

/** The pages and actions that have all words of a text; all of them for an empty text. */
function findPages({ shop, site }: ShopVisit, text: string): Result[] {
  const pages = site.flatMap((found): Result[] => {
    const { label, hint } = found;
    const isOpen = !isOfShop(found) || may(shop.role, found.right);
    return label === undefined || !isOpen ? [] : [{ label, hint, path: addressOf(found, shop) }];
  });
  const words = text.toLowerCase().split(/\s+/);
  return [...pages, signOut, ...ofDocs].filter(({ label, hint = '' }) => {
    const name = `${label} ${hint}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
}

interface Kind {
  readonly kind: RecordKind;
  readonly noun: string;
  /** What is found, by its number here, and its page. */
  describe(
    parts: OwnerParts,
    visit: ShopVisit,
    id: number,
  ): Promise<readonly [hint: string | undefined, path: string]>;
}

const kinds: readonly Kind[] = [
  {
    kind: 'customer',
    noun: 'Customer',
    async describe(parts, visit, id) {
      const { subscriptions: all } = await ask(parts, visit.shop, getEntitlements, {
        customerId: id,
      });
      const entitled = all.filter(({ isEntitled }) => isEntitled).length;
      const hint = `${countOf(visit, all.length, 'subscription')}, ${entitled} entitled now`;
      return [hint, `/customers/${id}`];
    },
  },
  {
    kind: 'subscription',
    noun: 'Subscription',
    async describe(parts, visit, id) {
      const found = await findSubscription(parts, visit, id);
      const hint =
        found &&
        `${statusLabels[found.status][0]}, ${found.planName}, since ${formatDay(visit, Date.parse(found.createdAt))}`;
      return [hint, `/subscriptions/${id}`];
    },
  },
  {
    kind: 'plan',
    noun: 'Plan',
    async describe(parts, { shop }, id) {
      const { plans } = await ask(parts, shop, listPlans);
      const found = plans.find((plan) => plan.id === id);
      const hint = found && `${found.name}${found.active ? '' : ', no longer offered'}`;
      return [hint, `/subscriptions?plan=${id}`];
    },
  },
  {
    kind: 'cancellation',
    noun: 'Cancel-flow session',
    async describe({ store }, { shop }, id) {
      const subscriptions = await store.readRecent(shop.id, (from) =>
        listSubscriptionsOfSessions(from.cancellations, shop.id, [id]),
      );
      const subscription = subscriptions.get(id);
      return subscription === undefined
        ? [undefined, '/cancel-flow']
        : [`of subscription ${subscription}`, `/subscriptions/${subscription}`];
    },
  },
];

/** The records that have an id, here or at their source. Names cannot be found, as none are stored. */
async function findRecords(parts: OwnerParts, visit: ShopVisit, text: string): Promise<Result[]> {
  if (text === '') return [];
  const found = await Promise.all(
    kinds.map(async (each) => {
      const record = await findRecord(parts.store.write, visit.shop.id, each.kind, text);
      return record ? [{ ...record, ...each }] : [];
    }),
  );
  const records = found.flat();
  const pairs = records.map(({ kind, id }) => [kind, id] as const);
  const homes = withHomes(parts, visit, pairs);
  return Promise.all(
    records.map(async ({ kind, noun, id, sourceId, describe }) => {
      const [[about, path], named] = await Promise.all([describe(parts, visit, id), homes]);
      const shown = showId(named, kind, id);
      const others = [sourceId !== shown && sourceId, shown !== String(id) && `number here ${id}`];
      return {
        label: `${noun} ${shown}`,
        path: shopPath(visit.shop, path),
        home: homeLink(named, kind, id, 'button'),
        hint: [about, ...others].filter(Boolean).join(' · '),
      };
    }),
  );
}
