import { z } from 'zod';
import { type CountedFigure, countedFigures } from '../../metrics/segments/counted.ts';
import { oneOf } from '../../operations/json-schema.ts';
import type { TimeOrder } from '../../store/records/paging.ts';
import { subscriptionStatuses } from '../../vocabulary.ts';
import { dayFilters } from '../framework/filters.ts';
import type { ListVisit } from '../framework/list.ts';

/** Whether a text can be a customer's number. */
export const isNumber = (text: string) => /^\d*[1-9]\d*$/.test(text);

export const subscriptionFilters = {
  customer: z
    .string()
    .refine(isNumber, { error: 'customerId must be a positive integer.' })
    .transform(Number)
    .optional(),
  status: oneOf('status', subscriptionStatuses).optional(),
  figure: oneOf('figure', countedFigures).optional(),
  ...dayFilters,
};

export type SubscriptionsVisit = ListVisit<typeof subscriptionFilters, TimeOrder>;

/** The figure that the list is of, if it is of one: the subscriptions of a customer are not. */
export function figureIn({ filters }: SubscriptionsVisit): CountedFigure | undefined {
  return filters.customer === undefined ? filters.figure : undefined;
}
