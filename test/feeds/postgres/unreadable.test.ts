import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { type TestContext, describe, test } from 'node:test';
import { parseTarget } from '../../../src/platforms/postgres/address.ts';
import { withSource } from '../../../src/platforms/postgres/connection.ts';

/** A message of a server: its type, its length, and what it says. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
const login = (kind: number, rest = '') =>
  message('R', Buffer.from(`\0\0\0${String.fromCharCode(kind)}${rest}`, 'latin1'));
const [ok, cleartext, gssapi] = [0, 3, 7].map((kind) => login(kind));
const ready = message('Z', Buffer.from('I'));

describe('databases of merchants that do not answer as PostgreSQL does', () => {
  /** @param answers what the server sends after each message that it gets @returns what the caller is told */
  async function ask(t: TestContext, answers: readonly (Buffer | undefined)[]) {
    const got: Buffer[] = [];
    const server = createServer((socket: Socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        const answer = answers[got.length];
        got.push(chunk);
        if (!answer) return;
        // In two parts, as messages may arrive.
        socket.write(answer.subarray(0, 6));
        setImmediate(() => socket.write(answer.subarray(6)));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const target = parseTarget(`postgres://reader@127.0.0.1:${port}/billing`);
    assert.ok(target);
    const options = { networks: ['127.0.0.0/8'], maxBytes: 100_000 };
    const said = await withSource(target, options, async () => 'read').catch((error: Error) =>
      error.message.replace(/:\d+/, ''),
    );
    return { said, got };
  }
  const unreadable =
    'PostgreSQL at 127.0.0.1 sends what cannot be read here, such as a login by GSSAPI. Let reader log in with a password.';

  for (const [what, answers] of [
    ['ask for a login that the driver does not know', [gssapi]],
    ['send an error without an end', [message('E', Buffer.from('SFATAL'))]],
    ['send a notice without an end', [message('N', Buffer.from('Mwell'))]],
    ['send a length that is too small', [Buffer.from('E\0\0\0\0\0\0', 'latin1')]],
    [
      'send a row with fewer than no fields',
      [Buffer.concat([ok as Buffer, ready]), message('D', Buffer.from([0xff, 0xff]))],
    ],
    ['send more than is asked for', [message('S', Buffer.alloc(100_001))]],
    [
      'send less than they say',
      [Buffer.concat([ok as Buffer, ready]), message('T', Buffer.from([0, 9]))],
    ],
  ] as const) {
    test(`are given up if they ${what}`, async (t) => {
      assert.equal((await ask(t, answers)).said, unreadable);
    });
  }

  test('get no password that the environment has for another database', async (t) => {
    const before = process.env['PGPASSWORD'];
    process.env['PGPASSWORD'] = 'of the operator';
    t.after(() => {
      if (before === undefined) delete process.env['PGPASSWORD'];
      else process.env['PGPASSWORD'] = before;
    });
    const refused = message('E', Buffer.from('SFATAL\0C28P01\0Mno\0\0'));
    const { said, got } = await ask(t, [cleartext, refused]);
    assert.match(said, /does not accept the login reader\.$/);
    assert.deepEqual(got[1], message('p', Buffer.from('\0')));
    const scram = login(10, 'SCRAM-SHA-256\0\0');
    const first = login(11, 'r=nonce,s=c2FsdA==,i=4096');
    assert.match((await ask(t, [scram, first])).said, /does not accept the login reader\.$/);
  });
});
