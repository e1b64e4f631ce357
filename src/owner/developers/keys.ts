import { type KeyListing, listKeys } from '../../store/keys/keys.ts';
import { isLive } from '../keys/pages.ts';
import type { OwnerParts } from '../pages.ts';

/** The keys that a page lets choose from: newest first, those that work before the others. */
export async function listKeyChoices(
  { store, clock }: OwnerParts,
  shopId: number,
): Promise<KeyListing[]> {
  const keys = (await listKeys(store.write, shopId)).toReversed();
  const now = clock.now();
  return [...keys.filter((key) => isLive(key, now)), ...keys.filter((key) => !isLive(key, now))];
}
