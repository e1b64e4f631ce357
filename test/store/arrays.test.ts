import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { binaryArray } from '../../src/store/arrays.ts';
import { onEveryDatabase } from '../support/databases.ts';

/** Elements by type, and the text of the array that the database reads. */
const arrays: Readonly<Record<string, readonly [elements: readonly unknown[], text: string]>> = {
  bigint: [
    [1, null, 4294967295, 4294967296, 9007199254740991, -1, -9007199254740991],
    '{1,NULL,4294967295,4294967296,9007199254740991,-1,-9007199254740991}',
  ],
  int: [[0, -2147483648, 2147483647], '{0,-2147483648,2147483647}'],
  smallint: [[-32768, undefined, 32767], '{-32768,NULL,32767}'],
  timestamptz: [
    [0, 946684799999, 1764003600123, null, 253402300799999],
    '{"1970-01-01 00:00:00+00","1999-12-31 23:59:59.999+00","2025-11-24 17:00:00.123+00",NULL,"9999-12-31 23:59:59.999+00"}',
  ],
  uuid: [
    ['00112233445566778899aabbccddeeff', 'ffffffff-0000-1111-2222-333333333333', null],
    '{00112233-4455-6677-8899-aabbccddeeff,ffffffff-0000-1111-2222-333333333333,NULL}',
  ],
  text: [
    ['plain', '', 'NULL', null, 'a "quoted", \\ {text}', 'Käse', '猫', '🐈'],
    '{plain,"","NULL",NULL,"a \\"quoted\\", \\\\ {text}",Käse,猫,🐈}',
  ],
};

onEveryDatabase('arrays in binary form', (open) => {
  const { write, close } = open();
  after(close);

  for (const [type, [elements, text]] of Object.entries(arrays)) {
    test(`reads each ${type}`, async () => {
      const read = async (some: readonly unknown[]) => {
        const array = binaryArray(type, some) as Buffer;
        const [row] = await write<{ text: string }[]>`
          select set_config('TimeZone', 'UTC', false),
            (${array}::${write.unsafe(type)}[])::text as text`;
        return row?.text;
      };
      assert.equal(await read(elements), text);
      assert.equal(await read([]), '{}');
    });
  }

  test('leaves other types to text', () => {
    assert.equal(binaryArray('numeric', ['1.50']), undefined);
  });
});
