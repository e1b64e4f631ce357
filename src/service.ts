import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Gate } from './access/gate.ts';
import { KeyLeases } from './access/key-leases.ts';
import { KeyUsage } from './access/key-usage.ts';
import { MemoryRateLimiter } from './access/memory-rate-limiter.ts';
import { RedisRateLimiter } from './access/redis-rate-limiter.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { createShell } from './http/shell.ts';
import { statusRoutes } from './http/status.ts';
import type { Log } from './log.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { referenceRoutes } from './reference/routes.ts';
import { restRoutes } from './rest/routes.ts';
import { type RestVersion, createWindDown, restVersions } from './rest/versions.ts';
import { KeyLookups } from './store/key-lookups.ts';
import { touchKey } from './store/keys.ts';
import type { Store } from './store/open.ts';

export interface ServiceParts {
  readonly config: Pick<Config, 'host' | 'port' | 'baseUrl' | 'redisUrl'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Only tests have other versions than those there are. */
  readonly versions?: readonly RestVersion[];
  /** Only tests wait longer for Redis than users would: the machine may pause. */
  readonly redisPatienceMilliseconds?: number | undefined;
}

export interface Service {
  /** The public address, without a trailing slash. */
  readonly baseUrl: string;
  /** Answers what is in flight, takes nothing new, and leaves the store open. */
  close(): Promise<void>;
}

/** How long the end of the service waits for the last uses of keys to be stored. */
const settleMilliseconds = 2_000;

/** Puts the service together and listens; the store must be open and migrated. */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { config, store, clock, log } = parts;
  const versions = parts.versions ?? restVersions;
  const shared = await openSharedLimiter(parts);
  const windDown = createWindDown(versions, clock);
  const usage = new KeyUsage(clock, log, ({ shopId, keyId }, at) =>
    touchKey(store.write, shopId, keyId, new Date(at)),
  );
  const lookups = new KeyLookups(store.read);
  const gate = new Gate({
    leases: new KeyLeases(clock, (hash) => lookups.find(hash)),
    limiter: shared ?? new MemoryRateLimiter(clock),
    usage,
  });

  let baseUrl = config.baseUrl ?? '';
  const app = createShell({
    log,
    routes: [
      ...windDown.routes([
        ...restRoutes(versions, { gate, store, clock, log }),
        ...referenceRoutes(() => baseUrl),
      ]),
      ...mcpRoutes({ gate, store, clock, log, baseUrl: () => baseUrl }),
      ...statusRoutes(store, shared),
    ],
    unrouted: windDown.unrouted,
  });
  await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    shared?.close();
    throw error;
  });
  baseUrl ||= addressOf(app, config.host);

  return {
    baseUrl,
    async close() {
      await app.close();
      shared?.close();
      await Promise.race([usage.settle(), sleep(settleMilliseconds, undefined, { ref: false })]);
    },
  };
}

/** @returns undefined where the configuration has no Redis; one that is down fails nothing */
async function openSharedLimiter(parts: ServiceParts): Promise<RedisRateLimiter | undefined> {
  const { config, clock, log, redisPatienceMilliseconds: patienceMilliseconds } = parts;
  if (config.redisUrl === undefined) return undefined;
  const limiter = new RedisRateLimiter({ url: config.redisUrl, clock, log, patienceMilliseconds });
  await limiter.open();
  return limiter;
}

function addressOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
