import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { createShell } from '../../src/http/shell.ts';
import { createLog } from '../../src/log/log.ts';
import { until } from '../support/until.ts';

const chunk = Buffer.alloc(64 * 1024, 'a');
/** Far more than the buffers at both ends of a connection hold. */
const many = 2_000;

/** A server whose answers are read from a source while they are sent. */
async function start(t: TestContext, source: (read: () => void) => AsyncGenerator<Buffer>) {
  const seen = { chunks: 0, ended: 0, lines: [] as string[] };
  async function* watched() {
    try {
      yield* source(() => (seen.chunks += 1));
    } finally {
      seen.ended += 1;
    }
  }
  const app = createShell({
    log: createLog('error', { write: (line) => void seen.lines.push(line) }),
    routes: [
      {
        method: 'GET',
        url: '/stream',
        handle: () => ({
          status: 200,
          headers: {},
          body: Readable.from(watched(), { objectMode: false }),
        }),
      },
    ],
    unrouted: (_path, answer) => answer,
  });
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const open = async (method = 'GET') => {
    const sent = request({ port, host: '127.0.0.1', path: '/stream', method, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer;
  };
  return { seen, open };
}

async function* endless(read: () => void): AsyncGenerator<Buffer> {
  for (let index = 0; index < many; index += 1) {
    read();
    yield chunk;
  }
}

test('a body is read only as fast as the client receives it, and all of it arrives', async (t) => {
  const { seen, open } = await start(t, endless);
  const slow = await open();
  const fast = await open();
  assert.equal((await buffer(fast)).length, many * chunk.length);
  // The fast client took everything; what was read for the other one waits for it.
  assert.ok(seen.chunks - many < many / 2, String(seen.chunks));
  assert.equal((await buffer(slow)).length, many * chunk.length);
  assert.deepEqual([seen.chunks, seen.ended, seen.lines], [2 * many, 2, []]);
});

test('a body is read no further once its client has left', async (t) => {
  const { seen, open } = await start(t, endless);
  const answer = await open();
  answer.destroy();
  await until(
    async () => seen.ended,
    (ended) => ended === 1,
  );
  assert.ok(seen.chunks < many, String(seen.chunks));
  assert.deepEqual(seen.lines, []);
});

test('a body that fails breaks off the connection, so that it is not taken for whole', async (t) => {
  const { seen, open } = await start(t, async function* failing(read) {
    read();
    yield chunk;
    throw new Error('the database is gone');
  });
  await assert.rejects(buffer(await open()), { code: 'ECONNRESET' });
  assert.match(seen.lines.join(''), /the database is gone.*answer broke off/);
});

test('HEAD reads nothing', async (t) => {
  const { seen, open } = await start(t, endless);
  const answer = await open('HEAD');
  assert.equal((await buffer(answer)).length, 0);
  assert.deepEqual([answer.statusCode, seen.chunks], [200, 0]);
});
