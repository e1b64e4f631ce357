import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { generateKey } from '../access/keys/key-format.ts';
import { createLog, redact } from './log.ts';

function start(level: string) {
  const lines: string[] = [];
  return { log: createLog(level, { write: (line) => void lines.push(line) }), lines };
}

const key = 'rtn_0123456789abcdefghijklmnopqrstuvwxyz_CWSW8A';

test('writes one JSON object per line: level, time, fields, message', () => {
  const { log, lines } = start('info');
  log.warn({ requestId: 'a', status: 500 }, 'two\nlines');
  assert.equal(lines.length, 1);
  const line = lines[0] ?? '';
  assert.equal(line.indexOf('\n'), line.length - 1);
  const { time, ...rest } = JSON.parse(line);
  assert.deepEqual(rest, { level: 'warn', requestId: 'a', status: 500, msg: 'two\nlines' });
  assert.ok(new Date(time).getTime() > 0);
});

test('writes request lines in the same format, at the end of the event-loop turn', async () => {
  const { log, lines } = start('info');
  const entry = {
    requestId: 'a',
    method: 'GET',
    route: '/x',
    status: 200,
    durationMs: 1.5,
    traceId: '0af7651916cd43dd8448eb211c80319c',
    shopId: 7,
    keyId: 'key_1',
    revision: '2026-07-28',
    mcp: 'tools/call',
    operation: 'list_plans',
  };
  log.request(entry);
  const bare = { requestId: 'b', method: 'PUT', route: undefined, status: 404, durationMs: 0 };
  log.request(bare);
  // Such as a signed request, which has no key.
  log.request({ ...bare, shopId: 7 });
  assert.equal(lines.length, 0);
  await endOfTurn();
  const written = lines.join('').trimEnd().split('\n');
  const [first, second, third] = written.map((line) => {
    const { time, ...rest } = JSON.parse(line);
    assert.ok(new Date(time).getTime() > 0);
    return rest;
  });
  assert.deepEqual(first, { level: 'info', ...entry, msg: 'request' });
  assert.deepEqual(second, {
    level: 'info',
    requestId: 'b',
    method: 'PUT',
    status: 404,
    durationMs: 0,
    msg: 'request',
  });
  assert.deepEqual(third, { ...second, shopId: 7 });
});

const levels: [string, string[]][] = [
  ['debug', ['debug', 'info', 'warn', 'error', 'info', 'debug']],
  ['info', ['info', 'warn', 'error', 'info']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
  ['silent', []],
];
for (const [level, expected] of levels) {
  test(`at ${level} writes ${expected.join(', ') || 'nothing'}`, async () => {
    const { log, lines } = start(level);
    log.debug('said');
    log.info('said');
    log.warn('said');
    log.error('said');
    const request = { requestId: 'a', method: 'GET', route: '/x', status: 200, durationMs: 1 };
    log.request(request);
    log.request({ ...request, isAsset: true });
    await endOfTurn();
    assert.deepEqual(
      lines
        .flatMap((line) => line.split('\n').filter(Boolean))
        .map((line) => JSON.parse(line).level),
      expected,
    );
  });
}

test('redacts keys and passwords anywhere in a line', () => {
  const { log, lines } = start('debug');
  const address = 'postgres://user:sesame@db.example:5432/retention';
  log.info(`${key} and ${address}`);
  log.info({ [key]: address, deep: { list: [`Bearer ${key}`, { url: address }] } }, 'facts');
  const cause = new Error(`cannot reach ${address}`);
  log.error({ err: new Error(`no such key: ${key}`, { cause }) }, 'failed');
  log.error({ url: `/x?key=${key}&again=${key}`, headers: { authorization: `Bearer ${key}` } });
  const all = lines.join('');
  assert.equal(lines.length, 4);
  assert.doesNotMatch(all, /0123456789abc|CWSW8A|sesame/);
  assert.match(all, /rtn_\[redacted\]/);
  assert.match(all, /postgres:\/\/user:\[redacted\]@db\.example:5432\/retention/);
  for (const line of lines) assert.doesNotThrow(() => JSON.parse(line));
});

test('redacts every generated key, whole or truncated', () => {
  for (let each = 0; each < 1000; each += 1) {
    const made = generateKey();
    assert.equal(redact(`(${made})`), '(rtn_[redacted])');
    assert.equal(redact(`${made.slice(0, 20)}…`), 'rtn_[redacted]…');
  }
});

const addresses: [string, string][] = [
  ['redis://:sesame@cache.example', 'redis://:[redacted]@cache.example'],
  ['postgresql://u:p%40ss@h/d', 'postgresql://u:[redacted]@h/d'],
  ['postgres://u:open@sesame@h/d', 'postgres://u:[redacted]@h/d'],
  ['postgres://u:a:b@h/d', 'postgres://u:[redacted]@h/d'],
  [
    'at postgres://u:p@h/d and redis://u:q@i',
    'at postgres://u:[redacted]@h/d and redis://u:[redacted]@i',
  ],
  ['postgres://u@h:5432/d', 'postgres://u@h:5432/d'],
  ['http://127.0.0.1:8787/docs', 'http://127.0.0.1:8787/docs'],
  ['http://h:80/people/a@b', 'http://h:80/people/a@b'],
  ['a:b@c', 'a:b@c'],
];
for (const [text, expected] of addresses) {
  test(`${text} is redacted to ${expected}`, () => assert.equal(redact(text), expected));
}
