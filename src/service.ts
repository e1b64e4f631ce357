import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { type Access, createAccess } from './access/access.ts';
import { MemoryRateLimiter } from './access/limiter/rolling-memory-limiter.ts';
import type { RedisRateLimiter } from './access/limiter/rolling-redis-limiter.ts';
import type { Clock } from './clock.ts';
import { type Config, urlOf } from './config/config.ts';
import { listenError } from './errors.ts';
import { docsRoutes } from './docs/routes.ts';
import { securityTextRoute } from './docs/security-text.ts';
import type { Uploads } from './push/upload/uploads.ts';
import { addGauges } from './gauges.ts';
import { notFoundForPrograms } from './http/answer.ts';
import { prefersPage } from './http/compression.ts';
import { aborted, drainConnections } from './http/connections.ts';
import { type Route, type ShellOptions, createShell } from './http/shell.ts';
import { statusRoutes } from './status.ts';
import { rememberedDays } from './iso-time.ts';
import type { Log } from './log/log.ts';
import { type Mailer, openMailer } from './mail/mailer.ts';
import { Outbox } from './mail/outbox.ts';
import { ownOrigins } from './mcp/origins.ts';
import { presenceRoutes } from './mcp/presence/routes.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { createConsoleFinder } from './owner/developers/console.ts';
import { notFoundPage } from './owner/message-pages.ts';
import { keptFormatters } from './owner/ui/formats.ts';
import { NotificationSender } from './owner/notifications/sender.ts';
import { iconFile } from './http/look/look.ts';
import { ownerRoutes } from './owner/routes.ts';
import { type Accounts, createAccounts } from './accounts/sessions.ts';
import type { SsoSettings } from './accounts/sso/providers.ts';
import { logHeads } from './accounts/audit/heads.ts';
import { sweepSignIns } from './accounts/throttle.ts';
import { createAskWithKey, restRoutes } from './rest/routes.ts';
import { createWindDown } from './rest/wind-down.ts';
import { secretScanningRoute } from './secret-scanning/route.ts';
import { type RestVersion, restV1, restVersions } from './operations/versions.ts';
import type { Store } from './store/open.ts';
import { sweepShops } from './store/retention.ts';
import { startMetricsServer } from './telemetry/metrics-server.ts';
import { ServiceMetrics } from './telemetry/service-metrics.ts';
import { startTracing } from './telemetry/traces.ts';
import { TimedOut, within } from './time-limit.ts';
import { commit, version } from './version.ts';
import type { Backoff } from './platforms/backoff.ts';
import { platforms } from './platforms/registry.ts';
import { startInbound } from './inbound.ts';

export interface ServiceParts {
  readonly config: Pick<Config, 'host' | 'port' | 'metricsHost' | 'baseUrl' | 'redisUrl'> &
    Partial<
      Pick<
        Config,
        | 'metricsPort'
        | 'tracing'
        | 'trustedProxies'
        | 'securityContact'
        | 'platforms'
        | 'sourceNetworks'
        | 'credentialsKeys'
        | 'requiresSecondFactor'
        | 'sso'
        | 'localPasswords'
        | 'uploads'
        | 'mail'
        | 'secretScanningKeysUrl'
      >
    >;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Overridden only by tests. */
  readonly versions?: readonly RestVersion[];
  /** Tests use a longer timeout than production, since a loaded machine may pause. */
  readonly redisTimeoutMilliseconds?: number | undefined;
  /** Overridden only by tests. */
  readonly resolveTxt?: SsoSettings['resolveTxt'];
  /** Between attempts to ask a platform. Overridden only by tests. */
  readonly backoff?: Backoff | undefined;
}

export interface Service {
  /** The public address, without a trailing slash. */
  readonly baseUrl: string;
  /** Address of the metrics; undefined if they are off. */
  readonly metricsUrl: string | undefined;
  /**
   * Finishes requests in flight; leaves the store open.
   * @param drainMilliseconds how long to keep answering on keep-alive connections, so that clients see
   * `Connection: close`; a request sent on a connection that closes without one is lost
   * @param deadline once aborted, all remaining connections are closed. Without it, waits indefinitely
   * for a client that never finishes its request
   */
  close(drainMilliseconds?: number, deadline?: AbortSignal): Promise<void>;
  /** Stores pending key usage, for a process that exits without `close`. */
  saveKeyUse(): Promise<void>;
}

/** How long `close` waits for pending writes. */
const settleMilliseconds = 2_000;

/**
 * Assembles the service and starts listening. The store must be open and migrated.
 * @throws CommandError if it cannot listen on a port
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { config, store, clock, log, resolveTxt } = parts;
  const shared = await openSharedLimiter(parts);
  const limiter = shared ?? new MemoryRateLimiter(clock);
  const access = createAccess({ store, clock, log, limiter });
  const accounts = createAccounts(store.write, clock, log, { ...config, resolveTxt });
  const metrics =
    config.metricsPort === undefined ? undefined : new ServiceMetrics({ version, commit });
  const tracer =
    config.tracing && (await startTracing({ config: config.tracing, log, clock, version }));
  const { uploads } = config;
  const inbound = await startInbound({ config: platformsOf(config), uploads, store, clock, log });
  const stopping = new AbortController();
  const addresses: Addresses = { baseUrl: config.baseUrl ?? '', origins: new Set() };
  const outbox = new Outbox(() => addresses.mailer, log);
  const app = createShell({
    log,
    isHttps: config.baseUrl?.startsWith('https:') ?? false,
    trustedProxies: config.trustedProxies,
    stopping: stopping.signal,
    ...createRoutes(parts, { access, accounts, addresses, outbox, uploads: inbound.uploads }, [
      ...inbound.routes,
      ...statusRoutes({ store, shared, stopping: stopping.signal }),
    ]),
    metrics,
    calls: access.calls,
    tracer,
  });
  if (metrics) {
    const names = platforms.map(({ name }) => name);
    const { leases } = access;
    const caches = {
      ...access.caches,
      ...accounts.caches,
      formatters: keptFormatters,
      days: rememberedDays,
    };
    addGauges(metrics, { app, store, clock, leases, caches, shared, inbound, platforms: names });
  }
  let metricsServer: Awaited<ReturnType<typeof listenForMetrics>> | undefined;
  const closeTelemetry = async () => {
    metrics?.close();
    await Promise.all([metricsServer?.close(), tracer?.close()]);
  };
  try {
    if (metrics) metricsServer = await listenForMetrics(metrics, config, log);
    await listenForRequests(app, config);
    inbound.open();
  } catch (error) {
    shared?.close();
    await inbound.close();
    await closeTelemetry();
    throw error;
  }
  const sweep = sweepSignIns(accounts, config.credentialsKeys ?? [], log);
  const heads = logHeads(store.write, clock, log);
  const retention = sweepShops(store.write, clock, log);
  const address = app.server.address() as AddressInfo;
  addresses.baseUrl ||= urlOf(config.host, address.port);
  const { mail } = config;
  const mailer = mail && (await openMailer(mail, new URL(addresses.baseUrl).hostname));
  addresses.mailer = mailer;
  const sender =
    mailer && new NotificationSender({ store, clock, log, mailer, baseUrl: addresses.baseUrl });
  addresses.origins = ownOrigins(addresses.baseUrl, address);

  const { calls } = access;
  return {
    baseUrl: addresses.baseUrl,
    metricsUrl: metricsServer && `${urlOf(config.metricsHost, metricsServer.port)}/metrics`,
    async close(drainMilliseconds = 0, deadline = new AbortController().signal) {
      stopping.abort();
      // Also done below: the process may be killed before all requests are answered.
      void calls.settle();
      const countConnections = promisify(app.server.getConnections.bind(app.server));
      const drain = { clock, milliseconds: drainMilliseconds, deadline };
      await drainConnections(countConnections, drain);
      const answered = app.close();
      await Promise.race([Promise.all([answered, inbound.close()]), aborted(deadline)]);
      const mailed = outbox.settle().then(() => sender?.close());
      if (
        !(await settlesInTime(
          Promise.all([
            calls.settle(),
            sweep.close(),
            heads.close(),
            retention.close(),
            accounts.settle(),
            mailed,
          ]),
        ))
      ) {
        log.warn('database not responding; recent key usage was not saved');
      }
      const left = await countConnections();
      if (left > 0) log.warn({ connections: left }, 'closed connections with unfinished requests');
      app.server.closeAllConnections();
      await answered;
      shared?.close();
      await closeTelemetry();
    },
    saveKeyUse: () => calls.settle(),
  };
}

function platformsOf({
  platforms: configs = {},
  credentialsKeys = [],
  baseUrl,
  sourceNetworks = [],
}: ServiceParts['config']) {
  return { platforms: configs, credentialsKeys, baseUrl, sourceNetworks };
}

/** Known once the service listens, if they are not configured. */
interface Addresses {
  /** The public address. */
  baseUrl: string;
  /** The origins that are the service itself. */
  origins: ReadonlySet<string>;
  /** Whose sender may be named after the address. */
  mailer?: Mailer | undefined;
}

interface RouteParts {
  readonly uploads: Uploads;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly addresses: Addresses;
  readonly outbox: Outbox;
}

/** All routes, and the answer to paths without one. */
function createRoutes(
  { versions = restVersions, config, store, clock, log, backoff }: ServiceParts,
  { access: { gate, calls }, accounts, addresses, outbox, uploads }: RouteParts,
  others: readonly Route[],
): Pick<ShellOptions, 'routes' | 'unrouted'> {
  const windDown = createWindDown(versions, clock);
  const baseUrl = () => addresses.baseUrl;
  const isPublic = config.baseUrl !== undefined;
  const { secretScanningKeysUrl: keysUrl } = config;
  const findConsole = createConsoleFinder({ store, log, accounts, baseUrl });
  return {
    routes: [
      ...windDown.routes([
        ...restRoutes(versions, { gate, store, clock, log }),
        ...docsRoutes({ versions, baseUrl, findConsole }),
      ]),
      iconFile.route,
      ...presenceRoutes(baseUrl),
      ...(config.baseUrl === undefined
        ? []
        : [securityTextRoute({ clock, baseUrl: config.baseUrl, contact: config.securityContact })]),
      ...mcpRoutes({ gate, store, clock, log, ownOrigins: () => addresses.origins }),
      ...ownerRoutes({
        store,
        clock,
        log,
        accounts,
        baseUrl,
        isPublic,
        requiresSecondFactor: config.requiresSecondFactor ?? false,
        uploads,
        mailer: () => addresses.mailer,
        outbox,
        calls,
        askWithKey: createAskWithKey(restV1, { gate, store, clock, log }),
        platforms: platformsOf(config),
        backoff,
      }),
      ...(keysUrl === undefined
        ? []
        : [secretScanningRoute({ keysUrl, store, clock, log, outbox, baseUrl })]),
      ...others,
    ],
    unrouted(path, answer, accept) {
      if (/^\/api(?:\/|$)/.test(path)) return windDown.unrouted(path, answer);
      // To anyone but a browser that reads it, / does not exist.
      if (path !== '/' && answer.status !== 404) return answer;
      return prefersPage(accept) ? notFoundPage() : notFoundForPrograms();
    },
  };
}

async function settlesInTime(work: Promise<unknown>): Promise<boolean> {
  try {
    await within(settleMilliseconds, work);
    return true;
  } catch (error) {
    if (error instanceof TimedOut) return false;
    throw error;
  }
}

/** @returns undefined without REDIS_URL. Does not fail if Redis is down. */
async function openSharedLimiter(parts: ServiceParts): Promise<RedisRateLimiter | undefined> {
  const { config, clock, log, redisTimeoutMilliseconds: timeoutMilliseconds } = parts;
  if (config.redisUrl === undefined) return undefined;
  // Loading its client takes a quarter of the start, which a service without Redis need not wait for.
  const { RedisRateLimiter } = await import('./access/limiter/rolling-redis-limiter.ts');
  const limiter = new RedisRateLimiter({ url: config.redisUrl, clock, log, timeoutMilliseconds });
  await limiter.open();
  return limiter;
}

async function listenForMetrics(
  metrics: ServiceMetrics,
  { metricsHost: host, metricsPort: port = 0 }: ServiceParts['config'],
  log: Log,
) {
  try {
    return await startMetricsServer({ host, port, log, expose: () => metrics.expose() });
  } catch (error) {
    throw listenError(error as Error, `${host}:${port}`, 'METRICS_');
  }
}

async function listenForRequests(
  app: FastifyInstance,
  { host, port }: ServiceParts['config'],
): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error as Error, `${host}:${port}`, '');
  }
}
