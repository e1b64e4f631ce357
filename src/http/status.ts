import type { Store } from '../store/open.ts';
import { type Answer, json, refuse } from './answer.ts';
import type { Route } from './shell.ts';

const patienceMilliseconds = 2_000;
const uncached = { ...json, 'cache-control': 'no-store' };

/** For whoever watches the process: does it live, and can it answer. */
export function statusRoutes(store: Store, stopping: AbortSignal): Route[] {
  return [
    {
      method: 'GET',
      url: '/healthz',
      handle: () => ({ status: 200, headers: uncached, body: '{"status":"ok"}' }),
    },
    {
      method: 'GET',
      url: '/readyz',
      handle: () => (stopping.aborted ? unready('the service is stopping') : readiness(store)),
    },
  ];
}

async function readiness(store: Store): Promise<Answer> {
  const isUp = await Promise.race([
    store.read`select 1`.then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => {
      setTimeout(resolve, patienceMilliseconds, false).unref();
    }),
  ]);
  return isUp
    ? { status: 200, headers: uncached, body: '{"status":"ready","database":"up"}' }
    : unready('the database does not answer');
}

function unready(reason: string): Answer {
  return refuse(503, `Not ready: ${reason}.`, { 'cache-control': 'no-store' });
}
