import type { Payment, Status, Subscription } from './records.ts';

export interface Change {
  readonly at: number;
  readonly from: Status;
  readonly to: Status;
}

/** Whether it is known since when a subscription has its status. */
export function isDated({ statusEvents = [] }: Subscription): boolean {
  return statusEvents.at(-1)?.at !== null || statusEvents.at(-2)?.to === statusEvents.at(-1)?.to;
}

/**
 * A subscription starts as active at createdAt, and its events say what followed. Without events, any
 * other status began at updatedAt, or else at createdAt.
 */
export function changesOf(subscription: Subscription): Change[] {
  const createdAt = Date.parse(subscription.createdAt);
  let events = (subscription.statusEvents ?? []).flatMap(({ at, to }) =>
    at === null ? [] : [{ at, to }],
  );
  if (events.length === 0 && isDated(subscription)) {
    events = [{ at: subscription.updatedAt ?? subscription.createdAt, to: subscription.status }];
  }
  const changes: Change[] = [];
  let status: Status = 'active';
  for (const event of events) {
    if (event.to !== status) {
      changes.push({ at: Math.max(createdAt, Date.parse(event.at)), from: status, to: event.to });
    }
    status = event.to;
  }
  return changes;
}

/** The status of a subscription before (and, unless `exclusive`, at) an instant. */
export function statusAt(
  subscription: Subscription,
  instant: number,
  exclusive = false,
): { status: Status; since: number } {
  if (!isDated(subscription)) return { status: subscription.status, since: NaN };
  let current = { status: 'active' as Status, since: Date.parse(subscription.createdAt) };
  for (const { at, to } of changesOf(subscription)) {
    if (at < instant || (at === instant && !exclusive)) current = { status: to, since: at };
  }
  return current;
}

export interface DunningCase {
  readonly openedAt: number;
  closedAt: number | undefined;
  result: 'recovered' | 'lost' | undefined;
  /** Whether each attempt to collect succeeded, after the failure that opened the case. */
  readonly attempts: boolean[];
}

/** A subscription's history up to an instant, in order. */
export function dunningCasesAt(
  subscription: Subscription,
  payments: readonly Payment[],
  instant: number,
): DunningCase[] {
  if (!isDated(subscription)) return [];
  const happenings: { at: number; order: number; id: number; what: 'fails' | 'pays' | Status }[] =
    [];
  for (const payment of payments) {
    if (payment.subscriptionId !== subscription.id) continue;
    const at = Date.parse(payment.processedAt);
    if (payment.status === 'succeeded') {
      happenings.push({ at, order: 0, id: payment.id, what: 'pays' });
    }
    if (payment.status === 'failed' && payment.failureKind !== 'inventory') {
      happenings.push({ at, order: 0, id: payment.id, what: 'fails' });
    }
  }
  for (const [index, { at, to }] of changesOf(subscription).entries()) {
    happenings.push({ at, order: 1, id: index, what: to });
  }
  happenings.sort((a, b) => a.at - b.at || a.order - b.order || a.id - b.id);

  const cases: DunningCase[] = [];
  let open: DunningCase | undefined;
  let hasEnded = false;
  for (const { at, what } of happenings) {
    if (at > instant) break;
    if (what === 'fails') {
      open?.attempts.push(false);
      if (open || hasEnded) continue;
      open = { openedAt: at, closedAt: undefined, result: undefined, attempts: [] };
      cases.push(open);
      continue;
    }
    if (what !== 'pays') hasEnded = what !== 'active' && what !== 'paused';
    if (what === 'pays') open?.attempts.push(true);
    if (open && (what === 'pays' || hasEnded)) {
      open.closedAt = at;
      open.result = what === 'pays' ? 'recovered' : 'lost';
      open = undefined;
    }
  }
  return cases;
}
