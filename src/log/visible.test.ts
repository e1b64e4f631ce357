import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible } from './visible.ts';

const written: [what: string, text: string, shown: string][] = [
  ['escape sequences', '\x1b[2Jgone', '\\u001b[2Jgone'],
  ['a bell, a backspace and delete', 'a\x07\b\x7f', 'a\\u0007\\u0008\\u007f'],
  ['8-bit control sequences', '\x9b31m', '\\u009b31m'],
  ['line ends', 'a\r\nb\u2028c\u2029', 'a\\r\\nb\\u2028c\\u2029'],
  ['tabs', 'a\tb', 'a\\tb'],
  ['direction overrides', '\u202egnp.exe\u202c', '\\u202egnp.exe\\u202c'],
  ['isolates', '\u2066a\u2069', '\\u2066a\\u2069'],
  ['direction marks', '\u200e\u200f\u061c', '\\u200e\\u200f\\u061c'],
];
for (const [what, text, shown] of written) {
  test(`escapes ${what}`, () => assert.equal(visible(text), shown));
}

for (const text of [
  'Kaffee & Söhne',
  'متجر القهوة',
  'می\u200cخواهم',
  '👩\u200d🌾 Farm',
  'C:\\new',
  '',
]) {
  test(`does not change "${text}"`, () => assert.equal(visible(text), text));
}
