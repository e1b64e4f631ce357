import { changesOf, dunningCasesAt, statusAt } from './history.ts';
import { type Status, type WorldRecord, liesAhead } from './records.ts';
import { ModelShop } from './shop.ts';
import { worldNow } from './times.ts';
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
