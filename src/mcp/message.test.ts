import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from './message.ts';

const idOf = (text: string) => parseMessage(Buffer.from(text))?.id;

test('keeps the source text of the id', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const [text, id] of [
    ['{"id":7}', '7'],
    ['{"id":"7"}', '"7"'],
    ['{"id":9007199254740993}', '9007199254740993'],
    ['{"id":1e2}', '1e2'],
    ['{"id":"\\u0061\\"}]"}', '"\\u0061\\"}]"'],
    ['{"id":"\\\\"}', '"\\\\"'],
    [' { "a" : [ 1 , { "id" : 2 } ] , "id" :\t1E+2\r\n, "b" : { "id" : 3 } } ', '1E+2'],
    ['{"\\u0069d":1.0}', '1.0'],
    ['{"a\\\\id":5,"id":6}', '6'],
    ['{"id":"first","x":"\\"id\\":9","id":2e0}', '2e0'],
    ['{"id":1,"i\\u0064":"last"}', '"last"'],
    ['{"a":"id","b":5,"id":4,"c":"id"}', '4'],
    ['{"":{},"id":1,"x":[],"y":{}}', '1'],
    [`{"x":${deep},"id":1e1,"y":${deep}}`, '1e1'],
  ] as const) {
    assert.equal(idOf(text), id, text.slice(0, 80));
  }
});

test('accepts only a string or an integer of the message itself as id', () => {
  for (const text of [
    '{}',
    '[{"id":1}]',
    '"id"',
    '{"Id":1,"id ":2}',
    '{"params":{"id":1}}',
    '{"__proto__":{"id":1}}',
    '{"id":null}',
    '{"id":true}',
    '{"id":[1]}',
    '{"id":{"id":1}}',
    '{"id":1,"id":null}',
  ]) {
    assert.equal(idOf(text), undefined, text);
  }
});

test('recognises an integer by its value, in any notation and size', () => {
  for (const id of [
    '0',
    '-0',
    '-7',
    '1.0',
    '-1.500e1',
    '10e-1',
    '0.0e-5',
    '0e999999999999',
    '1e400',
    '1E+9999999999999999999',
    '123456789012345678901234567890',
    '1.23e2',
    '9007199254740993.0',
  ]) {
    assert.equal(idOf(`{"id":${id}}`), id);
  }
  for (const id of [
    '0.5',
    '-1.5',
    '1e-1',
    '15e-1',
    '1.23e1',
    '100e-3',
    '1e-400',
    '1e-9999999999999999999',
    '9007199254740993.5',
    '123456789012345678901234567890.1',
  ]) {
    assert.equal(idOf(`{"id":${id}}`), undefined, id);
  }
});

test('keeps the source text of arguments that lose their fraction as doubles', () => {
  const read = (args: string) => {
    const text = `{"id":1,"params":{"a":0.5},"params":{"arguments":${args},"b":[1.0e1]}}`;
    const message = parseMessage(Buffer.from(text)) as { body: { params: { arguments: unknown } } };
    return message.body.params.arguments;
  };
  for (const source of [
    '101.00000000000000000001',
    '10000000000000000000000000.5',
    '-1.00000000000000000001e2',
    '1e-400',
  ]) {
    assert.deepEqual(read(`{"n":7,"l\\u0069mit":${source}}`), { n: 7, limit: source });
    assert.deepEqual(read(`{"limit":${source},"limit":5}`), { limit: 5 });
    assert.deepEqual(read(`[${source}]`), [Number(source)]);
    assert.deepEqual(read(`{"a":{"limit":${source}}}`), { a: { limit: Number(source) } });
  }
  for (const [source, value] of [
    ['1.00000000000000000000e2', 100],
    ['9007199254740993', 2 ** 53],
    ['1e400', Infinity],
    ['1.5', 1.5],
    ['"1.00000000000000000001"', '1.00000000000000000001'],
  ] as const) {
    assert.deepEqual(read(`{"limit":${source}}`), { limit: value });
  }
});

test('returns undefined for anything but JSON in UTF-8', () => {
  for (const text of ['', '{', '{"id":1', '{"id":01}', '\ufeff{"id":1}']) {
    assert.equal(parseMessage(Buffer.from(text)), undefined);
  }
  assert.equal(parseMessage(Buffer.from('{"id":"é"}', 'latin1')), undefined);
});
