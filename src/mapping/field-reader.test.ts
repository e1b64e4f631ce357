import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quotedValue, withoutValues } from './field-reader.ts';

test('takes each value out of a reason, whatever it has, and leaves the columns', () => {
  const value = quotedValue('a "b" is not in c');
  assert.equal(value, `"a 'b' is not in c"`);
  assert.equal(
    withoutValues(
      `column x: ${value} is not in its table, which has d; column y: ${value} must be a number; column z: "EUR" is in EUR, not in USD`,
    ),
    'column x: its value is not in its table, which has d; column y: its value must be a number; column z: its value is in EUR, not in USD',
  );
  assert.equal(
    withoutValues(`line 3: column x: ${value} must be empty or ${value}, as in line 2`),
    'line 3: column x: its value must be the same, as in line 2',
  );
});
