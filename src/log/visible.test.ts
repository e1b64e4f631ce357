import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible, forPeople } from './visible.ts';

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
for (const [what, text, escaped] of written) {
  test(`escapes ${what}`, () => assert.equal(visible(text), escaped));
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

/** 09:05:07 in the time zone of this machine. */
const time = new Date(2026, 10, 24, 9, 5, 7).getTime();

function shown(...lines: object[]): string {
  return forPeople(lines.map((each) => `${JSON.stringify({ time, ...each })}\n`).join(''));
}

test('says when, how grave, what, and the facts by name', () => {
  assert.equal(
    shown(
      { level: 'info', baseUrl: 'http://127.0.0.1:8787', pid: 7, msg: 'listening' },
      { level: 'warn', lines: 3, why: 'no reader = none', host: null, msg: 'log lines dropped' },
    ),
    '09:05:07 info  listening baseUrl=http://127.0.0.1:8787 pid=7\n' +
      '09:05:07 warn  log lines dropped lines=3 why="no reader = none" host=null\n',
  );
});

test('counts long lists, and cuts long values', () => {
  assert.equal(
    shown({ level: 'info', few: [1, 2, 3], many: [1, 2, 3, 4], long: 'x'.repeat(101), msg: 'all' }),
    `09:05:07 info  all few=[1,2,3] many=4 items long=${'x'.repeat(100)}…\n`,
  );
});

test('shows the stack of an error below, and an error without one beside', () => {
  const stack = 'Error: closed\n    at a (b.ts:1:2)\ncaused by: Error: gone\n    at c (d.ts:3:4)';
  assert.equal(
    shown(
      { level: 'error', requestId: 'r1', err: { type: 'Error', stack }, msg: 'request failed' },
      { level: 'error', err: { code: 'EPIPE' } },
    ),
    '09:05:07 error request failed requestId=r1\n' +
      '  Error: closed\n      at a (b.ts:1:2)\n  caused by: Error: gone\n      at c (d.ts:3:4)\n' +
      '09:05:07 error  err={"code":"EPIPE"}\n',
  );
});

test('lets no text move the cursor, forge a line or change direction', () => {
  assert.equal(
    shown({
      level: 'info',
      name: '\u001b[2J\u2028',
      err: { stack: 'Error: \u009b1A\n at x' },
      msg: 'a\n09:00:00 info  forged',
    }),
    '09:05:07 info  a\\n09:00:00 info  forged name="\\u001b[2J\\u2028"\n' +
      '  Error: \\u009b1A\n   at x\n',
  );
});
