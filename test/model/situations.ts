import { changesOf, dunningCasesAt, isDated, statusAt } from './history.ts';
import { type Status, type Subscription, type WorldRecord, liesAhead } from './records.ts';
import { ModelShop } from './shop.ts';
import { day, worldNow } from './times.ts';
import { type World, digitsOf } from './worlds.ts';

const ended = new Set<Status>(['cancelled', 'expired', 'failed']);

/** The situations that occur in a world; some more than once. */
export function situationsOf({ currency, shops }: World): string[] {
  const found: string[] = [];
  for (const runs of shops) {
    const shop = new ModelShop(currency, digitsOf(currency));
    for (const run of runs) {
      found.push(...situationsOfRun(run));
      shop.import(run, worldNow);
    }
    found.push(...situationsOfDunning(shop));
    found.push(...shop.subscriptions.flatMap((each) => situationsOfSubscription(each)));
    const hadOthers = shop.subscriptions.some(
      (each) => shop.pricedAt(each, worldNow - 30 * day).lines !== each.lines,
    );
    if (hadOthers) found.push('a price of an older record');
  }
  return found;
}

function situationsOfSubscription(subscription: Subscription): string[] {
  const { lines, status, createdAt, trialEndsAt } = subscription;
  const found: string[] = [];
  if (lines.some(({ intervalUnit }) => intervalUnit !== undefined)) {
    found.push('a line with its own interval');
  }
  if (lines.some(({ currentPrice }) => /\.\d{12}$/.test(String(currentPrice)))) {
    found.push('a price with 12 decimals');
  }
  if (!isDated(subscription)) found.push(`${status} since an unknown time`);
  if (trialEndsAt !== undefined) {
    const ends = Date.parse(trialEndsAt);
    const when = ends < worldNow - 30 * day ? 'before' : ends < worldNow ? 'within' : 'after';
    found.push(`a trial that ends ${when} the window`);
    const { status: then, since } = statusAt(subscription, worldNow);
    const isInTrial = since > Date.parse(createdAt) && since < ends;
    if (isDated(subscription) && ended.has(then) && isInTrial) found.push('an end in a trial');
  }
  return found;
}

function situationsOfRun(run: readonly WorldRecord[]): string[] {
  const found: string[] = [];
  const known = new Set<number>();
  for (const record of run) {
    if (record.type === 'subscription') known.add(record.id);
    if (record.type === 'payment' && !known.has(record.subscriptionId)) {
      found.push('a payment before its subscription');
    }
    if (liesAhead(record, worldNow)) found.push('dated in the future, and refused');
    else if (record.type === 'payment' && Date.parse(record.processedAt) > worldNow) {
      found.push('dated in the future, within the difference of clocks');
    }
  }
  return found;
}

function situationsOfDunning(shop: ModelShop): string[] {
  const found: string[] = [];
  for (const subscription of shop.subscriptions) {
    const payments = shop.payments.filter((each) => each.subscriptionId === subscription.id);
    const changes = changesOf(subscription);
    const cases = dunningCasesAt(subscription, payments, worldNow);
    for (const { status, failureKind, processedAt } of payments) {
      const at = Date.parse(processedAt);
      if (changes.some((change) => change.at === at)) found.push('a change dated as a payment');
      if (status !== 'failed' || failureKind === 'inventory') continue;
      if (ended.has(statusAt(subscription, at, true).status)) {
        found.push('a failure after an end');
      } else if (
        cases.some((each) => each.openedAt === at) &&
        changes.some((change) => change.at < at && ended.has(change.from))
      ) {
        found.push('a failure after a return that opens a case');
      }
    }
  }
  return found;
}
