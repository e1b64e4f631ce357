/** The lists of an owner’s shop, as the pages of figures lead to them. */
export const listPaths = [
  '/subscriptions',
  '/subscriptions?figure=active',
  '/customers',
  '/churn/left',
  '/cohorts/2026-03/customers',
  '/revenue/movements',
  '/revenue/renewals',
  '/payments',
  '/recovery/open',
  '/recovery/closed',
  '/cancel-flow/sessions',
];
