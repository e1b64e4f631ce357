import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { importContent, subscriptions } from './mapped.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';

onOneDatabase('rows that are refused or skipped', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const importMapped = (mapping: object, content: string) => importContent(store, mapping, content);

  test('are reported by line and column, while the other rows are stored', async () => {
    const mapping = subscriptions(
      { currency: 'currency' },
      { status: { column: 'status', table: { ON: 'active', OFF: 'cancelled' } } },
    );
    const { refused, texts, stored, counts, left } = await importMapped(
      mapping,
      `id,customer,created,price,status,currency,note,e-mail
1,501,2026-11-01T00:00:00Z,15.30,ON,USD,"first
second line",planted@example.com
x2,501,yesterday,"15,30",FROZEN,EUR,,planted@example.com
3,501,,15.0000000000001,ON,usd,,
4,501,2026-11-01T00:00:00Z,15.30
planted@example.com,505,2026-11-01T00:00:00Z,1,ON,USD,,

6,502,2026-11-02T00:00:00+02:00,7,OFF,usd,,Plantedfirst
`,
    );
    assert.deepEqual(stored, [
      '1 active 15.30 2026-11-01 00:00',
      '6 cancelled 7.00 2026-11-01 22:00',
    ]);
    assert.deepEqual(refused, [
      '4: column id: "x2" must be an integer from 1 to 9007199254740991; "ids": "text" allows any text; column status: "FROZEN" is not in its table, which has ON, OFF; column created: "yesterday" must be a time in ISO 8601; column price: "15,30" must be an amount such as 1234.50',
      '5: column created is empty; column price: "15.0000000000001" has more than 12 decimals; "round": true rounds them',
      '6: the row has 4 values, but there are 8 columns; does an unquoted value contain the delimiter?',
      '7: column id has an e-mail address; map only columns without personal data',
    ]);
    assert.deepEqual(counts, {
      subscription: { stored: 2, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 4 },
    });
    assert.equal(left, 0);
    assert.deepEqual(
      texts.map((text) => JSON.parse(text) as unknown),
      [
        {
          type: 'subscription',
          rows: [
            {
              line: 4,
              columns: {
                id: 'x2',
                customer: '501',
                status: 'FROZEN',
                created: 'yesterday',
                currency: 'EUR',
                price: '15,30',
              },
            },
          ],
        },
        {
          type: 'subscription',
          rows: [
            {
              line: 5,
              columns: {
                id: '3',
                customer: '501',
                status: 'ON',
                created: '',
                currency: 'usd',
                price: '15.0000000000001',
              },
            },
          ],
        },
        { rows: [{ line: 6 }] },
        {
          type: 'subscription',
          rows: [
            {
              line: 7,
              columns: {
                id: '(an e-mail address)',
                customer: '505',
                status: 'ON',
                created: '2026-11-01T00:00:00Z',
                currency: 'USD',
                price: '1',
              },
            },
          ],
        },
      ],
    );
    assert.doesNotMatch(texts.join(''), /planted/i);
  });

  test('are reported with their columns if the import refuses the record', async () => {
    const mapping = subscriptions({}, { planId: { column: 'plan', ids: 'text' } });
    const { refused, texts } = await importMapped(
      mapping,
      'id,customer,created,price,plan\n1,501,2026-11-01T00:00:00Z,1,gold\n',
    );
    // 2^52 + the first 52 bits of the SHA-256 of "plan:gold".
    assert.deepEqual(refused, ['2: plan 6275677522063395 is not known']);
    assert.match(texts[0] ?? '', /"rows":\[\{"line":2,"columns":\{.*"plan":"gold"/);
  });

  test('are skipped if they match no condition; empty and unknown values get defaults', async () => {
    const mapping = subscriptions(
      { when: { kind: { is: ['sub', ''] }, id: { isNot: ['9'] } } },
      {
        status: { column: 'status', table: { '': 'paused' }, otherwise: 'failed' },
        createdAt: { column: 'created', empty: '2026-01-01T00:00:00Z' },
      },
    );
    const { refused, stored, left } = await importMapped(
      mapping,
      'id,customer,created,price,status,kind\n1,501,,1,,sub\n2,501,,1,odd,\n9,501,,1,,sub\n10,x,y,z,,order\n',
    );
    assert.deepEqual(refused, []);
    assert.deepEqual(stored, ['1 paused 1.00 2026-01-01 00:00', '2 failed 1.00 2026-01-01 00:00']);
    assert.equal(left, 2);
  });

  test('include grouped rows that disagree, are apart or cannot be read', async () => {
    const { refused, stored, counts } = await importMapped(
      subscriptions({ group: 'id' }),
      `id,customer,created,price
1,501,2026-11-01T00:00:00Z,1
1,,,2.50
2,502,2026-11-01T00:00:00Z,1
2,503,,2
3,504,2026-11-01T00:00:00Z,1
3,,,free
1,501,2026-11-01T00:00:00Z,4
4,505,2026-11-01T00:00:00Z,1
4,too few
5,506,2026-11-01T00:00:00Z,1
6,507,2026-11-01T00:00:00Z,1
,508,2026-11-01T00:00:00Z,1
`,
    );
    assert.deepEqual(stored, ['1 active 3.50 2026-11-01 00:00', '6 active 1.00 2026-11-01 00:00']);
    const gap = 'line 10, which may be one of its rows, cannot be read';
    assert.deepEqual(refused, [
      '4: line 5: column customer: "503" must be empty or "502", as in line 4',
      '6: line 7: column price: "free" must be an amount such as 1234.50',
      '8: column id: "1" has earlier rows, whose record was made without this one; sort the file by id',
      '10: the row has 2 values, but there are 4 columns; does an unquoted value contain the delimiter?',
      `9: ${gap}`,
      `11: ${gap}`,
      '13: column id is empty, but rows are grouped by it',
    ]);
    assert.equal(counts['subscription']?.refused, 7);
  });

  test('name what is wrong with a column once, whatever uses it', async () => {
    const { refused } = await importMapped(
      subscriptions({}, { planId: 'customer' }),
      'id,customer,created,price\n1,,2026-11-01T00:00:00Z,1\n',
    );
    assert.deepEqual(refused, ['2: column customer is empty']);
  });

  test('include a group with more rows than a subscription may have lines', async () => {
    const rows = Array.from({ length: 300 }, () => '1,501,2026-11-01T00:00:00Z,1\n').join('');
    const { refused } = await importMapped(
      subscriptions({ group: 'id' }),
      `id,customer,created,price\n${rows}`,
    );
    assert.deepEqual(refused, ['2: lines must have at most 250 entries']);
  });
});
