import type { RoleContext } from './answers.ts';
import { type Latest, findIds } from './id-roles.ts';
import { findCurrency, findPrice, findPricesOf, findQuantity } from './money-roles.ts';
import { findInterval, findIntervalWords, findPlan } from './plan-roles.ts';
import { findStatus } from './status-role.ts';
import type { Column, Table } from './table.ts';
import { findTenure, findTimes } from './time-roles.ts';

/** What the columns of a table stand for. */
export type Roles = ReturnType<typeof findRoles>;

/** What rows can lack that other tables may have; `subscription`: what a payment is for. */
export type Lack = 'price' | 'interval' | 'currency' | 'plan' | 'customer' | 'subscription';

/** What the rows of subscriptions lack, or only seem to have. */
export function lacksOf({ price, interval, currency, plan, ids }: Roles): readonly Lack[] {
  const isPriced = price !== undefined && !price.isGuess;
  const lacks = {
    price: !isPriced,
    interval: !isPriced || interval.doubt !== undefined,
    currency: !currency,
    plan: !plan || plan.name === plan.id,
    customer: !ids.customer || ids.customer.columns[0] === ids.subscription?.columns[0],
  };
  return (Object.keys(lacks) as (keyof typeof lacks)[]).filter((lack) => lacks[lack]);
}

/** The columns of times that a mapping reads. */
export function usedTimes({ start, ended, next, paidThrough, updated, trialEnd }: Roles) {
  const all = [start, ended, next, paidThrough, updated, trialEnd];
  return all.filter((role) => role !== undefined);
}

/** Names of the months or days that rows of a ledger are about. */
const periods =
  /^(?:\w+ )?(?:month|period|monat|mois|mes|periode|snapshot(?: date)?|as of(?: date)?)$|^(?:date|datum|fecha|data)$/;

/** What tells rows of one id apart in time: a period, of which there are few, or when they were changed. */
function findLatest(
  id: Column | undefined,
  { times, updated }: ReturnType<typeof findTimes>,
): Latest | undefined {
  if (!id || id.counts.size === id.filled) return undefined;
  const found = times.find(
    ({ column: { words, counts, filled } }) => periods.test(words) && counts.size * 3 <= filled,
  );
  if (found && id.counts.size * 2 <= id.filled) return { column: found.column, isOf: 'periods' };
  return updated && { column: updated.column, isOf: 'changes' };
}

/** Finds out what columns stand for, by their names and their values. */
export function findRoles({ columns: all, rows }: Table, context: RoleContext) {
  const { answers, relations } = context;
  const columns = all.filter(({ isLoaders }) => !isLoaders);
  const status = findStatus(columns, answers);
  const others = columns.filter((column) => column !== status?.column);
  const times = findTimes(others, status, context);
  const found = findPrice(others, context);
  const amount = answers.get('quantity');
  const byInterval = found && findPricesOf(findIntervalWords(others), others, context);
  const price = found && {
    ...found,
    ...(byInterval && { byInterval, period: undefined }),
    isTotal: amount === 'all' || (amount !== 'one' && found.isTotal),
  };
  const { subscription, customer } = findIds(columns, rows.length, [], answers);
  const own = new Set([subscription?.columns[0], customer?.columns[0]]);
  // What another table says of a plan or a price follows from the column that refers to it.
  const keyNames = new Set(relations.joined.values());
  const named = others.filter((column) => !own.has(column) && !keyNames.has(column.name));
  const planGuess = findPlan(named, rows.length, answers);
  const interval = findInterval(others, price, planGuess, answers);
  const joined = [planGuess?.name, ...interval.columns, price?.column];
  const keys = new Set(joined.map((column) => relations.joined.get(column?.name ?? '')));
  const key = columns.find(({ name }) => keys.has(name));
  const plan = key ? { name: planGuess?.name ?? key, id: key } : planGuess;
  const latest = findLatest(subscription?.columns[0], times);
  const parts = [plan?.id, times.start?.column, times.ended?.column, price?.column];
  return {
    ...times,
    ...(latest?.isOf === 'periods' && {
      updated: times.times.find(({ column }) => column === latest.column),
    }),
    ids: findIds(
      columns,
      rows.length,
      parts.filter((part) => part !== undefined),
      answers,
      latest,
    ),
    latest,
    status,
    tenure:
      times.start && !times.start.isUnsure
        ? undefined
        : findTenure(
            others.filter(({ name }) => !relations.joined.has(name)),
            answers,
          ),
    price,
    plan,
    interval,
    quantity: findQuantity(others, answers),
    currency: findCurrency(others, answers),
  };
}
