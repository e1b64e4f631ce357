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

test('a connection that was refused before a reset does not fail what is sent after it', async () => {
  const attempts: PromiseWithResolvers<Session>[] = [];
  const connections = new Connections({
    max: 1,
    isShared: true,
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
  const sent = send();
  connections.reset();
  const sentLater = send();
  attempts[0]?.reject(new Error('wrong password'));
  await new Promise(setImmediate);
  attempts[1]?.resolve(session);
  assert.deepEqual(await Promise.all([sent, sentLater]), ['answered', 'answered']);
  await connections.end(0);
});
