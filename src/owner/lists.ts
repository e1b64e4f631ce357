import { sessions } from './cancel-flow/list.ts';
import { left } from './churn/left.ts';
import { members } from './cohorts/members.ts';
import { requestLog } from './developers/request-log.ts';
import type { DefinedList } from './framework/page.ts';
import { payments } from './payments/list.ts';
import { closedCases } from './recovery/closed.ts';
import { openCases } from './recovery/open.ts';
import { moved } from './revenue/moved.ts';
import { renewing } from './revenue/renewing.ts';
import { subscriptions } from './subscriptions/search.ts';

/** The lists of a shop, each with its page and its file. */
export const lists: readonly DefinedList[] = [
  subscriptions,
  left,
  members,
  moved,
  renewing,
  payments,
  openCases,
  closedCases,
  sessions,
  requestLog,
];
