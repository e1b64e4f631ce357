import type { Store } from '../store/open.ts';
import { type Answer, json, refuse } from './answer.ts';
import type { Route } from './shell.ts';

const patienceMilliseconds = 2_000;
const up = { status: 'ready', database: 'up' };
const uncached = { ...json, 'cache-control': 'no-store' };

/** For whoever watches the process: does it live, and can it answer. */
export function statusRoutes(store: Store): Route[] {
  return [
    {
      method: 'GET',
      url: '/healthz',
      handle: () => ({ status: 200, headers: uncached, body: '{"status":"ok"}' }),
    },
    { method: 'GET', url: '/readyz', handle: () => readiness(store) },
  ];
}

async function readiness(store: Store): Promise<Answer> {
  const isUp = await Promise.race([
    store.primary.read`select 1`.then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => {
      setTimeout(resolve, patienceMilliseconds, false).unref();
    }),
  ]);
  return isUp
    ? { status: 200, headers: uncached, body: JSON.stringify({ ...up, ...replicasOf(store) }) }
    : refuse(503, 'Not ready: the database does not answer.', { 'cache-control': 'no-store' });
}

/** Nothing where there are none: the service is as ready without them. */
function replicasOf({ replicas }: Store): object {
  if (replicas.length === 0) return {};
  const states = replicas.map(({ name, isInUse }) => [name, isInUse ? 'in use' : 'left out']);
  return { replicas: Object.fromEntries(states) };
}
