import { promisify } from 'node:util';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Gate } from './access/gate.ts';
import { KeyLeases } from './access/key-leases.ts';
import { KeyUsage } from './access/key-usage.ts';
import { MemoryRateLimiter } from './access/memory-rate-limiter.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { listenError } from './errors.ts';
import { createShell } from './http/shell.ts';
import { statusRoutes } from './http/status.ts';
import type { Log } from './log.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { serverInfo } from './mcp/server-info.ts';
import { referenceRoutes } from './reference/routes.ts';
import { restRoutes } from './rest/routes.ts';
import { type RestVersion, createWindDown, restVersions } from './rest/versions.ts';
import { answerOf, poolOf } from './store/database.ts';
import { findKeyByHash, touchKey } from './store/keys.ts';
import type { Store } from './store/open.ts';
import { createDatabaseCheck } from './telemetry/database-check.ts';
import { startMetricsServer } from './telemetry/metrics-server.ts';
import { ServiceMetrics } from './telemetry/service-metrics.ts';
import { startTracing } from './telemetry/traces.ts';

export interface ServiceParts {
  readonly config: Pick<Config, 'host' | 'port' | 'baseUrl'> &
    Partial<Pick<Config, 'metricsPort' | 'tracing'>>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Only tests have other versions than those there are. */
  readonly versions?: readonly RestVersion[];
}

export interface Service {
  /** The public address, without a trailing slash. */
  readonly baseUrl: string;
  /** Where the metrics are; undefined where there are none. */
  readonly metricsUrl: string | undefined;
  /** Answers what is in flight, takes nothing new, and leaves the store open. */
  close(): Promise<void>;
}

/** How long the end of the service waits for the last uses of keys to be stored. */
const settleMilliseconds = 2_000;

/**
 * Puts the service together and listens; the store must be open and migrated.
 * @throws CommandError when a port cannot be listened on
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { config, store, clock, log } = parts;
  const versions = parts.versions ?? restVersions;
  const windDown = createWindDown(versions, clock);
  const usage = new KeyUsage(clock, log, ({ shopId, keyId }, at) =>
    touchKey(store.write, shopId, keyId, new Date(at)),
  );
  const leases = new KeyLeases(clock, (hash) => findKeyByHash(store.read, hash));
  const gate = new Gate({
    leases,
    limiter: new MemoryRateLimiter(clock),
    usage,
  });

  const { version } = serverInfo;
  const metrics = config.metricsPort === undefined ? undefined : new ServiceMetrics(version);
  const tracer =
    config.tracing && (await startTracing({ config: config.tracing, log, clock, version }));

  let baseUrl = config.baseUrl ?? '';
  const app = createShell({
    log,
    routes: [
      ...windDown.routes([
        ...restRoutes(versions, { gate, store, clock, log }),
        ...referenceRoutes(() => baseUrl),
      ]),
      ...mcpRoutes({ gate, store, clock, log, baseUrl: () => baseUrl }),
      ...statusRoutes(store),
    ],
    unrouted: windDown.unrouted,
    metrics,
    tracer,
  });
  if (metrics) addGauges(metrics, { app, store, clock, leases });
  const metricsServer = metrics && (await listenForMetrics(metrics, config, log));
  const closeTelemetry = async () => {
    metrics?.close();
    await Promise.all([metricsServer?.close(), tracer?.close()]);
  };
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await closeTelemetry();
    throw listenError(error as Error, `${config.host}:${config.port}`, 'PORT');
  }
  const { port } = app.server.address() as AddressInfo;
  baseUrl ||= urlOf(config.host, port);

  return {
    baseUrl,
    metricsUrl: metricsServer && `${urlOf(config.host, metricsServer.port)}/metrics`,
    async close() {
      await app.close();
      await Promise.race([usage.settle(), sleep(settleMilliseconds, undefined, { ref: false })]);
      await closeTelemetry();
    },
  };
}

interface Measured {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly clock: Clock;
  readonly leases: KeyLeases;
}

function addGauges(metrics: ServiceMetrics, { app, store, clock, leases }: Measured): void {
  const pools = [store.read, store.analyse, store.write].map(poolOf).filter((pool) => !!pool);
  metrics.gauge('retention_database_statements_in_flight', () =>
    pools.map(({ name, statementsInFlight }) => ({ labels: [name], value: statementsInFlight })),
  );
  metrics.gauge('retention_database_connections', () =>
    pools.map(({ name, connections }) => ({ labels: [name], value: connections })),
  );
  // After the pools, so that they are read before the check adds a statement of its own.
  const check = createDatabaseCheck(() => answerOf(store.write, store.write`select 1`), clock);
  metrics.gauge('retention_database_up', async () => Number((await check()).isUp));
  metrics.gauge('retention_database_check_seconds', async () => (await check()).seconds);
  metrics.gauge('retention_key_leases', () => leases.size);
  const countConnections = promisify(app.server.getConnections.bind(app.server));
  metrics.gauge('retention_open_connections', () => countConnections());
}

async function listenForMetrics(
  metrics: ServiceMetrics,
  { host, metricsPort: port = 0 }: ServiceParts['config'],
  log: Log,
) {
  try {
    return await startMetricsServer({ host, port, log, expose: () => metrics.expose() });
  } catch (error) {
    metrics.close();
    throw listenError(error as Error, `${host}:${port}`, 'METRICS_PORT');
  }
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
