import type { RedisRateLimiter } from '../access/redis-rate-limiter.ts';
import type { Store } from '../store/open.ts';
import { type Answer, json, refuse } from './answer.ts';
import type { Route } from './shell.ts';

const patienceMilliseconds = 2_000;
const uncached = { ...json, 'cache-control': 'no-store' };

/**
 * For whoever watches the process: does it live, and can it answer.
 * @param limiter the one in Redis, where there is one; without Redis the service still answers
 */
export function statusRoutes(store: Store, limiter?: Pick<RedisRateLimiter, 'state'>): Route[] {
  return [
    {
      method: 'GET',
      url: '/healthz',
      handle: () => ({ status: 200, headers: uncached, body: '{"status":"ok"}' }),
    },
    { method: 'GET', url: '/readyz', handle: () => readiness(store, limiter) },
  ];
}

async function readiness(
  store: Store,
  limiter: Pick<RedisRateLimiter, 'state'> | undefined,
): Promise<Answer> {
  const isUp = await Promise.race([
    store.read`select 1`.then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => {
      setTimeout(resolve, patienceMilliseconds, false).unref();
    }),
  ]);
  if (!isUp)
    return refuse(503, 'Not ready: the database does not answer.', { 'cache-control': 'no-store' });
  const redis = limiter && (limiter.state === 'shared' ? 'up' : 'down');
  const body = JSON.stringify({ status: 'ready', database: 'up', redis });
  return { status: 200, headers: uncached, body };
}
