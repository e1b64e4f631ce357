import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripeValues } from '../../../../src/mapping/stripe/rows.ts';
import { jsonValues } from '../../../../src/mapping/rows.ts';
import * as fc from 'fast-check';
import { runs } from '../../../support/seed.ts';
import { world, worldAt } from './cases.ts';

const damage = [null, '', 'x', '1e9', 'inf', '-1', -1, 0, 0.5, 1e21, 2 ** 53, [], {}, [null], true];

/** The object with one value in it replaced. */
function damaged(value: unknown, pick: (below: number) => number): unknown {
  if (typeof value !== 'object' || value === null || pick(6) === 0)
    return damage[pick(damage.length)];
  const names = Object.keys(value);
  const name = names[pick(names.length)];
  if (name === undefined) return damage[pick(damage.length)];
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[name] = damaged(copy[name], pick);
  return copy;
}

test('damaged subscriptions are priced or left as they are, and end no import', () => {
  const context = { currency: 'USD', at: Date.parse(worldAt) };
  const picks = fc.array(fc.nat(10_000), { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(fc.constantFrom(...world), picks, ({ subscription }, numbers) => {
      let at = 0;
      const pick = (below: number) => (numbers[(at += 1) % numbers.length] as number) % below;
      const object = damaged(subscription, pick);
      const { values } = stripeValues(jsonValues(object), context);
      const lines = values.get('priced') ? (values.get('items.data') as object[]) : [];
      for (const line of lines) {
        const { unit_price: price, quantity } = line as { unit_price: string; quantity: number };
        assert.match(price, /^\d+([.]\d{1,12})?$/);
        assert.ok(Number.isSafeInteger(quantity) && quantity >= 1);
      }
    }),
    runs(5000),
  );
});
