import type { RecordOf } from '../../../records/records.ts';
import { ownNumber } from '../../../own-number.ts';
import { paidThroughOf } from '../../../records/paid-periods.ts';
import type { BillingAttempt } from './attempts.ts';
import { Refusal } from './fields.ts';
import type { Contract, ContractLine } from './nodes.ts';
import { paidPeriodsOf } from './paid-periods.ts';
import { type ContractPayments, paymentsOf } from './payments.ts';
import { type AreShipped, standInPlan } from './plans.ts';

/** A contract with all of its lines and all of its billing attempts, in any order. */
export interface WholeContract {
  readonly contract: Contract;
  readonly lines: readonly ContractLine[];
  readonly attempts: readonly BillingAttempt[];
}

export interface ContractRecords {
  /** To be stored before the subscription if nothing better is known about the plan. */
  readonly plan: ReturnType<typeof standInPlan>;
  readonly subscription: RecordOf<'subscription'>;
  readonly payments: ContractPayments;
}

const maxLines = 250;
/** Shopify's title for the only variant of a product without variants. */
const noVariants = 'Default Title';

/**
 * Maps one contract to records. The order of its lines and attempts makes no difference.
 * @param minorDigits decimals of the shop's currency
 * @throws Refusal if the contract has no lines, or too many
 */
export function mapContract(
  whole: WholeContract,
  areShipped: AreShipped,
  minorDigits: number,
): ContractRecords {
  const { contract, attempts } = whole;
  const lines = whole.lines.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (lines.length === 0) throw new Refusal('the contract has no lines');
  if (lines.length > maxLines) throw new Refusal(`the contract has more than ${maxLines} lines`);

  const lineWithPlan = lines.find((line) => line.sellingPlanId !== null);
  const plan = standInPlan(contract, lineWithPlan, isShipped(lines, lineWithPlan, areShipped));
  const paidPeriods = paidPeriodsOf(contract, attempts);
  return {
    plan,
    subscription: {
      type: 'subscription',
      id: contract.id,
      customerId: contract.customerId,
      planId: plan.id,
      status: contract.status,
      createdAt: contract.createdAt,
      updatedAt: contract.updatedAt,
      nextBillingDate: contract.nextBillingDate,
      paidThroughAt: paidThroughOf(paidPeriods),
      statusEvents: [],
      intervalUnit: contract.billing.unit,
      intervalCount: contract.billing.count,
      preserve: 'history',
      paidPeriods,
      lines: lines.map(mapLine),
    },
    payments: paymentsOf(contract, lines, attempts, minorDigits),
  };
}

/** Judged by all contracts on the selling plan; without one, by this contract's lines. */
function isShipped(
  lines: readonly ContractLine[],
  lineWithPlan: ContractLine | undefined,
  areShipped: AreShipped,
): boolean | undefined {
  if (lineWithPlan?.sellingPlanId) return areShipped(lineWithPlan.sellingPlanId);
  if (lines.some(({ requiresShipping }) => requiresShipping === true)) return true;
  return lines.every(({ requiresShipping }) => requiresShipping === false) ? false : undefined;
}

function mapLine(line: ContractLine) {
  const { id, title, quantity, currentPrice } = line;
  const variantTitle = line.variantTitle === noVariants ? '' : (line.variantTitle ?? '');
  // A deleted product or variant no longer has a number, so its title identifies it.
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
