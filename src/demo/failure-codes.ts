import { createRandom, pickWeighted, weigh } from './random.ts';
import type { Charge } from './lifecycle.ts';

/** Money arrives on a later day more often than a new card does. Some sources give no code. */
const codes = {
  recovered: weigh([
    ['insufficient_funds', 48],
    ['do_not_honor', 15],
    ['card_declined', 13],
    ['authentication_required', 7],
    ['processing_error', 6],
    ['expired_card', 5],
    [undefined, 6],
  ]),
  unpaid: weigh([
    ['insufficient_funds', 22],
    ['do_not_honor', 14],
    ['card_declined', 18],
    ['authentication_required', 5],
    ['processing_error', 2],
    ['expired_card', 33],
    [undefined, 6],
  ]),
} as const;

/**
 * The code of each billing cycle whose payment failed, the same for all attempts.
 * @param charges of one subscription, oldest first
 */
export function failureCodesOf(charges: readonly Charge[]): ReadonlyMap<string, string> {
  const paid = new Set(
    charges.flatMap(({ status, cycle }) => (status === 'succeeded' ? cycle : [])),
  );
  const found = new Map<string, string>();
  for (const { cycle, failureKind, at } of charges) {
    if (failureKind !== 'payment' || found.has(cycle)) continue;
    // A stream of its own, so that everything else about the shop is as it would be without codes.
    const random = createRandom(at, 0);
    const code = pickWeighted(random, paid.has(cycle) ? codes.recovered : codes.unpaid);
    if (code !== undefined) found.set(cycle, code);
  }
  return found;
}
