import { maxKeyDays } from '../../access/keys/key-policy.ts';
import { type Html, html } from '../../http/html.ts';
import type { KeyPolicy } from '../../store/shops.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../site.ts';
import { type SelectField, postForm, selectField } from '../ui/fields.ts';

/** The lifetimes that a policy can name, in days. */
function expiryDays({ keyDefaultDays, keyMaxDays }: KeyPolicy): readonly number[] {
  const all = [7, 30, 90, 365, keyDefaultDays ?? 7, keyMaxDays ?? 7];
  return [...new Set(all)].toSorted((one, other) => one - other);
}

/** The lifetimes that it allows for a key. */
export const allowedDays = (policy: KeyPolicy) =>
  expiryDays(policy).filter((days) => days <= (policy.keyMaxDays ?? Infinity));

export function daysField(
  parts: Pick<SelectField, 'id' | 'label' | 'none' | 'isInvalid'>,
  chosen: number | null | undefined,
  days: readonly number[],
): Html {
  const options = days.map((each) => [String(each), `After ${each} days`] as const);
  return selectField({ ...parts, selected: String(chosen ?? ''), options });
}

/**
 * The form with the policy of a shop's keys.
 * @param refused what was chosen, and is wrong
 */
export function policyForm(visit: ShopVisit, refused: KeyPolicy | undefined): Html {
  const { shop } = visit;
  const { keyDefaultDays, keyMaxDays } = refused ?? shop;
  const days = expiryDays(shop);
  const isInvalid = refused !== undefined;
  return postForm(
    visit,
    shopPath(shop, '/keys/policy'),
    html`<p>New and rotated keys follow this. Keys that exist stay as they are.</p>
      ${daysField({ id: 'default', label: 'New keys expire by default', none: 'No default', isInvalid }, keyDefaultDays, days)}
      ${daysField({ id: 'longest', label: 'They expire at the latest', none: 'Without a limit' }, keyMaxDays, days)}
      <button class="plain">Save</button>`,
  );
}

const isValid = (days: number) => Number.isInteger(days) && days >= 0 && days <= maxKeyDays;

/** @returns undefined if the days are invalid */
export function readPolicy(form: URLSearchParams): KeyPolicy | undefined {
  const [usual = NaN, longest = NaN] = ['default', 'longest'].map((name) =>
    Number(form.get(name) ?? NaN),
  );
  // An empty choice is 0.
  return isValid(usual) && isValid(longest)
    ? { keyDefaultDays: usual || null, keyMaxDays: longest || null }
    : undefined;
}
