import type { Route } from '../http/shell.ts';
import { accountPages, shopChoicePages } from './account/account.ts';
import { forgottenPages } from './account/forgotten.ts';
import { linkPages } from './account/links.ts';
import { signInPages } from './account/sign-in.ts';
import { auditLog } from './audit/list.ts';
import { cancelFlow } from './cancel-flow/page.ts';
import { churn } from './churn/page.ts';
import { cohorts } from './cohorts/page.ts';
import { overview } from './dashboard/page.ts';
import { confirmPages, secondStepPages } from './factors/second-step.ts';
import { factorPages } from './factors/page.ts';
import { requiredPages } from './factors/required.ts';
import { pagesOf } from './framework/page.ts';
import { keyPages } from './keys/routes.ts';
import { notificationPages } from './notifications/page.ts';
import { type OwnerPage, type OwnerParts, routesOf } from './pages.ts';
import { recovery } from './recovery/page.ts';
import { revenue } from './revenue/page.ts';
import { searchPages } from './search/page.ts';
import { segmentPages } from './segments/routes.ts';
import { sourcePages } from './sources/connect.ts';
import { Sources } from './sources/sources.ts';
import { teamPages } from './team/team.ts';
import { subscriptionPages } from './subscriptions/page.ts';
import { frameAssets, assets } from './ui/assets.ts';
import { consolePages } from './developers/console.ts';
import { startPages } from './developers/start.ts';
import { usagePages } from './developers/usage.ts';
import { sessions } from './cancel-flow/sessions.ts';
import { left } from './churn/left.ts';
import { members } from './cohorts/members.ts';
import { requestLog } from './developers/request-log.ts';
import { payments } from './revenue/payments.ts';
import { closedCases } from './recovery/cases.ts';
import { contactPages } from './recovery/contacted.ts';
import { openCases } from './recovery/open.ts';
import { moved } from './revenue/moved.ts';
import { prices } from './revenue/prices.ts';
import { renewing } from './revenue/renewing.ts';
import { customers } from './customers/list.ts';
import { customer } from './customers/page.ts';
import { subscriptions } from './subscriptions/search.ts';
import { ssoSettingsPages } from './sso/settings.ts';
import { ssoSignInPages } from './sso/sign-in.ts';
import type { DefinedList } from './framework/define-list.ts';

/** All pages for shop owners, in the order of the navigation and the search. */
export function ownerPages(parts: OwnerParts): readonly OwnerPage[] {
  const sources = new Sources(parts);
  return [
    ...pagesOf(parts, [
      overview(sources),
      churn,
      cohorts,
      revenue,
      recovery,
      cancelFlow,
      ...listsOfData,
    ]),
    ...subscriptionPages(parts),
    ...contactPages(parts),
    ...sourcePages(parts, sources),
    ...startPages(parts),
    ...consolePages(parts),
    ...usagePages(parts),
    ...keyPages(parts),
    ...teamPages(parts),
    ...pagesOf(parts, [auditLog]),
    ...requiredPages(parts),
    ...notificationPages(parts),
    ...segmentPages(parts),
    ...searchPages(parts),
    ...shopChoicePages,
    ...accountPages(parts),
    ...factorPages(parts),
    ...confirmPages(parts),
    ...signInPages(parts),
    ...secondStepPages(parts),
    ...ssoSignInPages(parts),
    ...ssoSettingsPages(parts),
    ...forgottenPages(parts),
    ...linkPages(parts),
  ];
}

/** Everything below /app. */
export function ownerRoutes(parts: OwnerParts): Route[] {
  return [
    ...[frameAssets, ...Object.values(assets)].flat().map(({ route }) => route),
    ...routesOf(parts, ownerPages(parts)),
  ];
}

/** The lists of a shop's data, each with its page and its file. */
const listsOfData: readonly DefinedList[] = [
  subscriptions,
  customers,
  customer,
  left,
  members,
  moved,
  prices,
  renewing,
  payments,
  openCases,
  closedCases,
  sessions,
  requestLog,
];

export const lists: readonly DefinedList[] = [...listsOfData, auditLog];
