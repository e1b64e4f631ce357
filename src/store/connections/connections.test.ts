import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connections } from './connections.ts';
import { Query, type Statement } from './query.ts';
import type { Session } from './session.ts';

/** Answers every statement. */
const session = {
  isOpen: true,
  isInTransaction: false,
  inFlight: 0,
  send: (statement: Statement) => statement.resolve(Object.assign([], { count: 0, command: '' })),
  close: () => {},
  destroy: () => {},
} as unknown as Session;

/** A pool of one connection, and its attempts to open it. */
function start(isShared: boolean) {
  const attempts: PromiseWithResolvers<Session>[] = [];
  const connections = new Connections({
    max: 1,
    isShared,
    isRepeatable: false,
    isWatched: false,
    closed: undefined,
    open: () => {
      const attempt = Promise.withResolvers<Session>();
      attempts.push(attempt);
      return attempt.promise;
    },
  });
  const send = () => Query.of(connections, 'select 1', []).then(() => 'answered');
  return { attempts, connections, send };
}

test('a connection that was refused before a reset does not fail what is sent after it', async () => {
  const { attempts, connections, send } = start(true);
  const sent = send();
  connections.reset();
  const sentLater = send();
  attempts[0]?.reject(new Error('wrong password'));
  await new Promise(setImmediate);
  attempts[1]?.resolve(session);
  assert.deepEqual(await Promise.all([sent, sentLater]), ['answered', 'answered']);
  await connections.end(0);
});

for (const isShared of [true, false]) {
  const kind = isShared ? 'shared' : 'own';

  test(`what waits for a connection (${kind}) when the pool is closed is still sent on it`, async () => {
    const { attempts, connections, send } = start(isShared);
    const sent = send();
    const ended = connections.end();
    attempts[0]?.resolve(session);
    assert.equal(await sent, 'answered');
    await ended;
    assert.equal(attempts.length, 1);
  });

  test(`what waits for a connection (${kind}) that cannot be opened fails when the pool is closed`, async () => {
    const { attempts, connections, send } = start(isShared);
    const sent = send();
    const ended = connections.end();
    attempts[0]?.reject(new Error('the server is away'));
    await assert.rejects(sent, /^NoConnection: the server is away$/);
    await ended;
    assert.equal(attempts.length, 1);
  });
}
