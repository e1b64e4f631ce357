import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizationOf, hostProblem } from './headers.ts';

/** A request with these header lines; `headers` keeps the first of each name, as Node.js does. */
function requestWith(...lines: (readonly [name: string, value: string])[]) {
  const first = lines.toReversed().map(([name, value]) => [name.toLowerCase(), value]);
  return { headers: Object.fromEntries(first), rawHeaders: lines.flat(), httpVersion: '1.1' };
}

test('reads one Authorization header, and ignores repeated ones', () => {
  assert.equal(authorizationOf(requestWith(['Host', 'a'])), undefined);
  assert.equal(authorizationOf(requestWith(['AUTHORIZATION', 'Bearer x'])), 'Bearer x');
  for (const second of ['Bearer x', 'Bearer y', '']) {
    const several = requestWith(['Authorization', 'Bearer x'], ['authorization', second]);
    assert.equal(authorizationOf(several), undefined, second);
  }
  // A value that equals the name, and a name of the same length.
  const one = requestWith(['x', 'authorization'], ['cache-control', 'b'], ['authorization', 'c']);
  assert.equal(authorizationOf(one), 'c');
});

const hosts: [valid: boolean, ...hosts: string[]][] = [
  [true, 'localhost', 'LOCALHOST:8787', 'retention.example.', 'a-b.c_d', 'xn--bcher-kva.example'],
  [
    true,
    '127.0.0.1',
    '127.0.0.1:0',
    '[::1]',
    '[::1]:8787',
    '[2001:DB8::7]:443',
    '[::ffff:1.2.3.4]',
  ],
  // Valid by the grammar: empty, no digits after the colon, percent-encoding.
  [true, '', 'localhost:', 'a%20b', "a!$&'()*+;=~"],
  [false, 'a b', 'a,b', 'a, b', 'a\tb', 'user@host', 'user:secret@host', 'a/b', 'http://a', 'a?b'],
  [false, 'a#b', 'a\\b', '"a"', '<a>', 'ä', 'a\0b', 'a%2', 'a%zz', ':', ':80'],
  [false, 'a:b', 'a:-1', 'a:80:80', 'a:65536', 'a: 80', '::1', '::1:80', '2001:db8::7'],
  [false, '[', '[]', '[]:80', '[::1', '::1]', '[:::1]', '[::1]x', '[1.2.3.4]', '[::1%25eth0]'],
];
for (const [isValid, ...texts] of hosts) {
  test(`${isValid ? 'accepts' : 'refuses'} Host ${texts.map((each) => JSON.stringify(each)).join(' ')}`, () => {
    const problem = isValid
      ? undefined
      : 'The Host header must be a host name or an IP address, optionally with a port.';
    for (const text of texts) assert.equal(hostProblem(requestWith(['Host', text])), problem, text);
  });
}

test('refuses repeated Host headers, even identical ones, in every HTTP version', () => {
  for (const httpVersion of ['1.0', '1.1']) {
    const several = requestWith(['Host', 'a'], ['accept', '*/*'], ['hOST', 'a']);
    assert.equal(hostProblem({ ...several, httpVersion }), 'There must be only one Host header.');
  }
});

test('refuses a missing Host in HTTP/1.1 only', () => {
  assert.equal(hostProblem(requestWith()), 'The Host header is missing.');
  assert.equal(hostProblem({ ...requestWith(), httpVersion: '1.0' }), undefined);
});
