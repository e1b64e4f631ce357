/** hints: something has changed, ask again; duties: something must be done, such as forgetting a customer. */
export const jobKinds = ['hints', 'duties'] as const;
export type JobKind = (typeof jobKinds)[number];

/** A stored job: what is known of its webhook, and its task. */
export interface Job {
  readonly shopId: number;
  /** A UUID: the same if the webhook is sent again. */
  readonly event: string;
  /** As the webhook named it. */
  readonly topic: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly kind: string;
}
