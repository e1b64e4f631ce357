/** hints: something changed and must be fetched; duties: required actions, such as redactions. */
export type JobKind = 'hints' | 'duties';

/** A stored job: where it came from, and its task. */
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
