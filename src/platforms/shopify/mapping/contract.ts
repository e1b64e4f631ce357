import { addInterval } from '../../../intervals.ts';
import type { InputOf } from '../../../ingest/record.ts';
import { priceOf } from '../../../ingest/rows.ts';
import { cyclesOf, dueAt } from './cycles.ts';
import { Refusal } from './fields.ts';
import { ownNumber } from '../../../own-number.ts';
import type { BillingAttempt, Contract, ContractLine } from './nodes.ts';
import { type AreShipped, standInPlan } from './plans.ts';

/** A contract with all of its lines and all of its billing attempts, in any order. */
export interface WholeContract {
  readonly contract: Contract;
  readonly lines: readonly ContractLine[];
  readonly attempts: readonly BillingAttempt[];
}

export interface ContractRecords {
  /** To be handed over first where nothing better is known of the plan. */
  readonly plan: ReturnType<typeof standInPlan>;
  readonly subscription: InputOf<'subscription'>;
  /** In the order of the attempts. */
  readonly payments: readonly InputOf<'payment'>[];
}

const mostLines = 250;
/** How Shopify calls the one variant of a product that has no variants. */
const noVariants = 'Default Title';
const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

/**
 * The records of one contract. The same contract gives the same records, whatever order its lines
 * and attempts come in.
 * @throws Refusal where the contract has no lines, or too many
 */
export function mapContract(whole: WholeContract, areShipped: AreShipped): ContractRecords {
  const { contract, attempts } = whole;
  const lines = whole.lines.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (lines.length === 0) throw new Refusal('the contract has no lines');
  if (lines.length > mostLines) throw new Refusal(`the contract has more than ${mostLines} lines`);

  const planned = lines.find((line) => line.sellingPlanId !== null);
  const plan = standInPlan(contract, planned, shippedAs(lines, planned, areShipped));
  const paidThroughAt = paidThrough(contract, attempts);
  return {
    plan,
    subscription: {
      type: 'subscription',
      id: contract.id,
      customerId: contract.customerId,
      planId: plan.id,
      status: contract.status,
      createdAt: iso(contract.createdAt),
      updatedAt: iso(contract.updatedAt),
      nextBillingDate: contract.nextBillingDate === null ? null : iso(contract.nextBillingDate),
      paidThroughAt: paidThroughAt === undefined ? null : iso(paidThroughAt),
      intervalUnit: contract.billing.unit,
      intervalCount: contract.billing.count,
      lines: lines.map(mapLine),
      keeps: 'history',
    },
    payments: mapAttempts(contract, lines, attempts),
  };
}

/** By all contracts on the selling plan; without one, by this contract's own lines. */
function shippedAs(
  lines: readonly ContractLine[],
  planned: ContractLine | undefined,
  areShipped: AreShipped,
): boolean | undefined {
  if (planned?.sellingPlanId) return areShipped(planned.sellingPlanId);
  if (lines.some(({ requiresShipping }) => requiresShipping === true)) return true;
  return lines.every(({ requiresShipping }) => requiresShipping === false) ? false : undefined;
}

function mapLine(line: ContractLine) {
  const { id, title, quantity, currentPrice } = line;
  const variantTitle = line.variantTitle === noVariants ? '' : (line.variantTitle ?? '');
  // Of what is deleted in Shopify the number is gone; its title still tells one from another.
  const productId = line.productId ?? ownNumber(`Product: ${title}`);
  return {
    lineId: ownNumber(id),
    productId,
    productTitle: title,
    variantId: line.variantId ?? ownNumber(`ProductVariant: ${productId} ${variantTitle}`),
    variantTitle,
    quantity,
    currentPrice,
  };
}

/** The end of the last period that anything says was paid for; undefined where nothing does. */
function paidThrough(contract: Contract, attempts: readonly BillingAttempt[]): number | undefined {
  const { billing, createdAt, nextBillingDate } = contract;
  const oneMore = (at: number) => addInterval(at, billing.unit, billing.count);
  const ends: number[] = [];
  for (const attempt of attempts) {
    if (attempt.outcome === 'succeeded') ends.push(oneMore(dueAt(attempt)));
  }
  if (contract.isLastPaymentSucceeded && nextBillingDate !== null) ends.push(nextBillingDate);
  if (contract.hasOriginOrder) ends.push(oneMore(createdAt));
  return ends.length === 0 ? undefined : ends.reduce((a, b) => Math.max(a, b));
}

const statuses = {
  succeeded: { status: 'succeeded' },
  failed: { status: 'failed', failureKind: 'payment' },
  outOfStock: { status: 'failed', failureKind: 'inventory' },
  pending: { status: 'pending' },
} as const;

function mapAttempts(
  contract: Contract,
  lines: readonly ContractLine[],
  attempts: readonly BillingAttempt[],
): InputOf<'payment'>[] {
  if (attempts.length === 0) return [];
  const amount = priceOf(lines);
  const cycles = cyclesOf(attempts, contract.billing);
  return attempts.map((attempt) => {
    const processedAt = attempt.completedAt ?? attempt.createdAt;
    return {
      type: 'payment',
      id: attempt.id,
      subscriptionId: contract.id,
      cycle: cycles.get(attempt) ?? '',
      ...statuses[attempt.outcome],
      amount,
      processedAt: iso(processedAt),
      // An attempt that is settled is newer than while it was pending, also where the contract is not.
      updatedAt: iso(Math.max(contract.updatedAt, processedAt)),
      keeps: 'amount',
    };
  });
}
