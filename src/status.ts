import type { RedisRateLimiter } from './access/limiter/rolling-redis-limiter.ts';
import type { Store } from './store/open.ts';
import { within } from './time-limit.ts';
import { type Answer, json, refuse } from './http/answer.ts';
import type { Route } from './http/shell.ts';

const timeoutMilliseconds = 2_000;
const up = { status: 'ready', database: 'up' };
const uncached = { ...json, 'cache-control': 'no-store' };

interface StatusParts {
  readonly store: Store;
  /** The Redis limiter, if configured. The service is ready without Redis: each instance then limits alone. */
  readonly shared: Pick<RedisRateLimiter, 'state'> | undefined;
  /** Aborted when the service starts to stop. */
  readonly stopping: AbortSignal;
}

/** Liveness and readiness probes. */
export function statusRoutes(parts: StatusParts): Route[] {
  return [
    {
      method: 'GET',
      url: '/healthz',
      handle: () => ({ status: 200, headers: uncached, body: '{"status":"ok"}' }),
    },
    { method: 'GET', url: '/readyz', handle: () => readiness(parts) },
  ];
}

async function readiness({ store, shared, stopping }: StatusParts): Promise<Answer> {
  if (stopping.aborted) return notReady('the service is stopping');
  const isUp = await within(timeoutMilliseconds, store.primary.keys`select 1`).then(
    () => true,
    () => false,
  );
  if (!isUp) return notReady('the database does not answer');
  const redis = shared && (shared.state === 'shared' ? 'up' : 'down');
  const body = JSON.stringify({ ...up, redis, ...replicasOf(store) });
  return { status: 200, headers: uncached, body };
}

function notReady(reason: string): Answer {
  return refuse(503, `Not ready: ${reason}.`, { 'cache-control': 'no-store' });
}

/** Empty without replicas. They do not affect readiness. */
function replicasOf({ replicas }: Store): object {
  if (replicas.length === 0) return {};
  const states = replicas.map(({ name, isInUse }) => [name, isInUse ? 'in use' : 'left out']);
  return { replicas: Object.fromEntries(states) };
}
