import type { Asset } from '../http/look/look.ts';
import type { Route } from '../http/shell.ts';
import { accountPages, linkPages, shopChoicePages, signInPages } from './account/routes.ts';
import { cancelFlow, flowAssets } from './cancel-flow/page.ts';
import { chartAssets } from './charts/assets.ts';
import { churn, churnAssets } from './churn/page.ts';
import { cohortAssets, cohorts } from './cohorts/page.ts';
import { dashboardAssets, overview } from './dashboard/page.ts';
import { developerAssets } from './developers/frame.ts';
import { developerPages } from './developers/routes.ts';
import { pagesOf } from './framework/page.ts';
import { keyPages } from './keys/routes.ts';
import { lists } from './lists.ts';
import { notificationPages } from './notifications/routes.ts';
import { type OwnerPage, type OwnerParts, routesOf } from './pages.ts';
import { recovery } from './recovery/page.ts';
import { revenue, revenueAssets } from './revenue/page.ts';
import { searchPages } from './search/routes.ts';
import { segmentPages } from './segments/routes.ts';
import { sourcePages } from './sources/routes.ts';
import { Sources } from './sources/sources.ts';
import { subscriptionPages } from './subscriptions/routes.ts';
import { frameAssets } from './ui/assets.ts';
import { helpAssets } from './ui/help.ts';

const assets: readonly Asset[] = [
  frameAssets,
  chartAssets,
  churnAssets,
  cohortAssets,
  dashboardAssets,
  developerAssets,
  flowAssets,
  helpAssets,
  revenueAssets,
].flat();

/** All pages for shop owners, in the order of the navigation and the search. */
export function ownerPages(parts: OwnerParts): readonly OwnerPage[] {
  const sources = new Sources(parts);
  return [
    ...pagesOf(parts, [overview(sources), churn, cohorts, revenue, recovery, cancelFlow, ...lists]),
    ...subscriptionPages(parts),
    ...sourcePages(parts, sources),
    ...developerPages(parts),
    ...keyPages(parts),
    ...notificationPages(parts),
    ...segmentPages(parts),
    ...searchPages(parts),
    ...shopChoicePages,
    ...accountPages(parts),
    ...signInPages(parts),
    ...linkPages(parts),
  ];
}

/** Everything below /app. */
export function ownerRoutes(parts: OwnerParts): Route[] {
  return [...assets.map(({ route }) => route), ...routesOf(parts, ownerPages(parts))];
}
