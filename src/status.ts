import type { RedisRateLimiter } from './access/limiter/rolling-redis-limiter.ts';
import { systemClock } from './clock.ts';
import { type SilentNode, isDistributed, listSilentNodes } from './store/cluster/cluster.ts';
import type { Store } from './store/open.ts';
import { within } from './time-limit.ts';
import { type Answer, json, refuse } from './http/answer.ts';
import type { Route } from './http/shell.ts';

const timeoutMilliseconds = 2_000;
/** How long the nodes of a cluster are not asked again. */
const nodesMilliseconds = 5_000;
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
  const silentNodes = nodeCheck(parts.store);
  return [
    {
      method: 'GET',
      url: '/healthz',
      handle: () => ({ status: 200, headers: uncached, body: '{"status":"ok"}' }),
    },
    { method: 'GET', url: '/readyz', handle: () => readiness(parts, silentNodes) },
  ];
}

async function readiness(
  { store, shared, stopping }: StatusParts,
  silentNodes: () => Promise<readonly SilentNode[]>,
): Promise<Answer> {
  if (stopping.aborted) return notReady('the service is stopping');
  const asked = within(timeoutMilliseconds, silentNodes()).catch(() => []);
  const isUp = await within(timeoutMilliseconds, store.primary.keys`select 1`).then(
    () => true,
    () => false,
  );
  if (!isUp) return notReady('the database does not answer');
  const redis = shared && (shared.state === 'shared' ? 'up' : 'down');
  const body = JSON.stringify({ ...up, redis, ...replicasOf(store), ...nodesOf(await asked) });
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

/** Asks the nodes of a cluster whether they answer: one question at a time, however often this is called. */
function nodeCheck({ primary, write }: Store): () => Promise<readonly SilentNode[]> {
  let answer: Promise<readonly SilentNode[]> = Promise.resolve([]);
  let askedAt = -Infinity;
  let isAsking = false;
  const ask = async () => ((await isDistributed(primary.keys)) ? listSilentNodes(write) : []);
  return () => {
    const now = systemClock.monotonic();
    if (isAsking || now - askedAt < nodesMilliseconds) return answer;
    isAsking = true;
    askedAt = now;
    answer = ask().finally(() => (isAsking = false));
    return answer;
  };
}

/**
 * The nodes that do not answer. They do not affect readiness: the shops of the others are served, by all instances alike
 * (docs/decisions/0028-dead-workers.md).
 */
function nodesOf(silent: readonly SilentNode[]): object {
  if (silent.length === 0) return {};
  const states = silent.map(({ name, shops }) => [
    name,
    `does not answer: ${shops} shops are refused`,
  ]);
  return { nodes: Object.fromEntries(states) };
}
