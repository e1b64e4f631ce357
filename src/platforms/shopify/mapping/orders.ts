import { isObject } from '../../../json.ts';
import { decimalText, parseDecimal, shorten } from '../../../money.ts';
import {
  type Node,
  type ShopMoney,
  Refusal,
  booleanOf,
  integerOf,
  numberOfGid,
  shopMoneyOf,
  timeOf,
} from './fields.ts';

/** Amounts are decimal texts in the shop's currency, times epoch milliseconds. */
interface Refund {
  readonly id: number;
  readonly amount: string;
  readonly refundedAt: number;
}

/** An order of which Shopify shows the amounts. */
export interface Order {
  readonly id: number;
  /** A test order pays for nothing; its amounts are not read. */
  readonly isTest: boolean;
  readonly processedAt: number;
  readonly amount: string;
  /** Without those of 0, which only return goods to stock. */
  readonly refunds: readonly Refund[];
}

/** The order of the checkout, which may have created other contracts, and may hold other goods. */
export interface FirstOrder extends Order {
  /** Of all goods in it. */
  readonly quantity: number;
  /** Of all goods in it, without shipping; null if Shopify has none. */
  readonly subtotal: string | null;
}

const orderIdOf = numberOfGid('Order');
const refundIdOf = numberOfGid('Refund');
const quantityOf = integerOf(0, Number.MAX_SAFE_INTEGER);

/** @returns null if the order is withheld, or if the query did not ask for its amounts */
export function readOrder(node: unknown, shop: ShopMoney): Order | null {
  if (!isObject(node) || node['totalPriceSet'] === undefined) return null;
  const [id, processedAt] = [orderIdOf(node, 'id'), timeOf(node, 'processedAt')];
  if (booleanOf(node, 'test')) return { id, isTest: true, processedAt, amount: '0', refunds: [] };
  const amount = shopMoneyOf(node, 'totalPriceSet', "the order's total", shop);
  return { id, isTest: false, processedAt, amount, refunds: readRefunds(node['refunds'], shop) };
}

/** @returns null as for `readOrder` */
export function readFirstOrder(node: unknown, shop: ShopMoney): FirstOrder | null {
  const order = readOrder(node, shop);
  if (!order || !isObject(node)) return null;
  const subtotal =
    order.isTest || !isObject(node['subtotalPriceSet'])
      ? null
      : shopMoneyOf(node, 'subtotalPriceSet', "the order's subtotal", shop);
  return { ...order, quantity: quantityOf(node, 'subtotalLineItemsQuantity'), subtotal };
}

const noRefunds: readonly Refund[] = [];

function readRefunds(refunds: unknown, shop: ShopMoney): readonly Refund[] {
  if (!Array.isArray(refunds) || !refunds.every(isObject)) {
    throw new Refusal("the order's refunds must be a list of objects");
  }
  if (refunds.length === 0) return noRefunds;
  return refunds
    .map((refund: Node) => ({
      id: refundIdOf(refund, 'id'),
      amount: shopMoneyOf(refund, 'totalRefundedSet', 'a refund', shop),
      refundedAt: timeOf(refund, 'processedAt'),
    }))
    .filter(({ amount }) => !isZero(amount));
}

const isZero = (amount: string) => /^[0.]*$/.test(amount);

/** Whether refunds returned everything that was paid. An order of 0 cannot be refunded. */
export function isRefunded({ amount, refunds }: Order): boolean {
  if (refunds.length === 0) return false;
  const digits = refunds.reduce(
    (most, refund) => Math.max(most, decimalsOf(refund.amount)),
    decimalsOf(amount),
  );
  const refunded = refunds.reduce((sum, refund) => sum + unitsOf(refund.amount, digits), 0n);
  return refunded >= unitsOf(amount, digits);
}

const decimalsOf = (amount: string) => amount.split('.')[1]?.length ?? 0;

/** An amount in units of its last of `digits` decimals; it must not have more of them. */
function unitsOf(amount: string, digits: number): bigint {
  const { numerator, denominator } = parseDecimal(amount);
  return (numerator * 10n ** BigInt(digits)) / denominator;
}

/** A fraction from 0 to 1 of what an order holds. */
export interface Share {
  readonly part: bigint;
  readonly whole: bigint;
}

const all: Share = { part: 1n, whole: 1n };

/**
 * The contract's share of its first order: all of it if the order holds as many goods as the
 * contract, otherwise by price, and where the goods were free, by quantity.
 * @param goods what the contract is for
 */
export function shareOf(
  { quantity, subtotal }: FirstOrder,
  goods: { readonly quantity: number; readonly price: string },
): Share {
  if (quantity === goods.quantity) return all;
  const isPriced = subtotal !== null && !isZero(subtotal);
  const digits = isPriced ? Math.max(decimalsOf(subtotal), decimalsOf(goods.price)) : 0;
  const [part, whole] = isPriced
    ? [unitsOf(goods.price, digits), unitsOf(subtotal, digits)]
    : [BigInt(goods.quantity), BigInt(quantity)];
  return part >= whole ? all : { part, whole };
}

/** A share of an amount, rounded half up to the currency's minor unit. */
export function takeShare(amount: string, { part, whole }: Share, minorDigits: number): string {
  if (part === whole) return amount;
  const units = unitsOf(amount, minorDigits) * part;
  return shorten(decimalText((2n * units + whole) / (2n * whole), minorDigits));
}
