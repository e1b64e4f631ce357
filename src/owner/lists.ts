import { left } from './churn/left.ts';
import { members } from './cohorts/members.ts';
import type { DefinedList } from './framework/page.ts';
import { payments } from './payments/list.ts';
import { subscriptions } from './subscriptions/search.ts';

/** The lists of a shop, each with its page and its file. */
export const lists: readonly DefinedList[] = [left, members, payments, subscriptions];
