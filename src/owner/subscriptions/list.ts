import type { z } from 'zod';
import type { subscription } from '../../operations/shapes.ts';

export interface SubscriptionRow extends z.infer<typeof subscription> {
  /** When what the list is of happened, epoch milliseconds, if it is of a figure. */
  readonly happenedAt?: number;
}

export interface SubscriptionsPage {
  readonly subscriptions: readonly SubscriptionRow[];
  readonly nextCursor: string | null;
}
