import type { Answers } from './answers.ts';
import { findIds } from './id-roles.ts';
import { findCurrency, findPrice, findQuantity } from './money-roles.ts';
import { findInterval, findPlan } from './plan-roles.ts';
import { findStatus } from './status-role.ts';
import type { Table } from './table.ts';
import { findTenure, findTimes } from './time-roles.ts';

export interface RoleContext {
  /** Epoch milliseconds: what is later has not happened. */
  readonly now: number;
  /** Decimals of the shop's currency. */
  readonly minorDigits: number;
  readonly answers: Answers;
}

/** What the columns of a table stand for. */
export type Roles = ReturnType<typeof findRoles>;

/** Finds out what columns stand for, by their names and their values. */
export function findRoles({ columns, rows }: Table, { now, minorDigits, answers }: RoleContext) {
  const status = findStatus(columns, answers);
  const others = columns.filter((column) => column !== status?.column);
  const times = findTimes(others, status, now, answers);
  const found = findPrice(others, minorDigits, answers);
  const amount = answers.get('quantity');
  const price = found && {
    ...found,
    isTotal: amount === 'all' || (amount !== 'one' && found.isTotal),
  };
  const { subscription, customer } = findIds(columns, rows.length, [], answers);
  const own = new Set([subscription?.columns[0], customer?.columns[0]]);
  const plan = findPlan(
    others.filter((column) => !own.has(column)),
    rows.length,
  );
  const parts = [plan?.id, times.start?.column, times.ended?.column, price?.column];
  return {
    ...times,
    ids: findIds(
      columns,
      rows.length,
      parts.filter((part) => part !== undefined),
      answers,
    ),
    status,
    tenure: times.start && !times.start.isUnsure ? undefined : findTenure(others, answers),
    price,
    plan,
    interval: findInterval(others, price, plan, answers),
    quantity: findQuantity(others),
    currency: findCurrency(others),
  };
}
