import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createLog } from '../log/log.ts';
import { createShell } from './shell.ts';

test(
  'answers 500 for an answer with a header that none may have',
  { timeout: 60_000 },
  async (t) => {
    const app = createShell({
      log: createLog('silent'),
      routes: [
        {
          method: 'GET',
          url: '/',
          handle: async () => ({ status: 303, headers: { location: '/中' }, body: '' }),
        },
      ],
      unrouted: (_path, answer) => answer,
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    t.after(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    const { status, headers } = await fetch(`http://127.0.0.1:${port}/`, {
      signal: AbortSignal.timeout(50_000),
    });
    assert.deepEqual([status, headers.get('location')], [500, null]);
  },
);
