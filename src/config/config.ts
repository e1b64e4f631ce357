import { isIP } from 'node:net';
import { differOnlyInLogin, parseAddress, problemOf, splitByHost } from './database-url.ts';
import { UsageError } from '../errors.ts';
import {
  type PlatformConfig,
  type PlatformSettings,
  parseKeys,
  parsePlatform,
  splitList,
} from './platform-config.ts';
import { type MailConfig, parseMail } from './mail-config.ts';
import { type UploadConfig, parseUploads } from './upload-config.ts';

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];
/** Supervisors kill a process long before this, so a longer time is a mistake. */
const maxStopSeconds = 3600;

export interface Config {
  /** A PostgreSQL server; undefined means the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** Hot standbys of that server, or workers of its cluster; one address per host. */
  readonly databaseReadUrls: readonly string[];
  /** The same server with a read-only login; undefined means the login of `databaseUrl`. */
  readonly databaseServeUrl: string | undefined;
  readonly dataDir: string;
  /** Redis for rate limits that instances share; undefined means each instance has its own. */
  readonly redisUrl: string | undefined;
  readonly host: string;
  /** 0 lets the operating system choose. */
  readonly port: number;
  /** Port for Prometheus, separate from the public one; undefined turns metrics off. */
  readonly metricsPort: number | undefined;
  /** Address that the metrics port listens on. It requires no key. */
  readonly metricsHost: string;
  /** The public address without a trailing slash; undefined means the address listened on. */
  readonly baseUrl: string | undefined;
  /** Proxies whose `X-Forwarded-*` headers are trusted: addresses, networks, or a hop count. */
  readonly trustedProxies: readonly string[] | number;
  readonly logLevel: LogLevel;
  /** How long a server may take to stop before it closes the remaining connections. */
  readonly stopSeconds: number;
  /** Keys of 32 bytes that encrypt platforms' credentials, newest first; empty means that none are stored. */
  readonly credentialsKeys: readonly Buffer[];
  readonly uploads: UploadConfig;
  /** How digests and alerts are sent; undefined means that none are. */
  readonly mail: MailConfig | undefined;
  /** Whether this instance syncs the shops that are connected to platforms. */
  readonly syncs: boolean;
  /** By the platform's name; empty where nothing is set for it. */
  readonly platforms: Readonly<Record<string, PlatformConfig>>;
  /** Whether NODE_OPTIONS limits the heap; that limit takes precedence. */
  readonly setsHeapLimit: boolean;
  /** How traces are sampled; undefined turns tracing off. */
  readonly tracing: TracingConfig | undefined;
}

/** OpenTelemetry's libraries read all other tracing variables themselves. */
interface TracingConfig {
  readonly sampler: string | undefined;
  readonly samplerArgument: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset. */
function readEnv(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}

/**
 * Parses the configuration from the environment.
 * @throws UsageError that lists every problem
 */
export function parseConfig(env: Env, platforms: readonly PlatformSettings[] = []): Config {
  const problems: string[] = [];
  const check = <T>(
    name: string,
    fallback: T,
    parse: (text: string) => T | undefined,
    expected: string | ((text: string) => string),
  ) => {
    const text = readEnv(env, name);
    if (text === undefined) return fallback;
    const value = parse(text);
    if (value === undefined) {
      problems.push(`${name} must be ${typeof expected === 'string' ? expected : expected(text)}.`);
    }
    return value ?? fallback;
  };

  const config: Config = {
    // Error messages never quote the value, which contains a password.
    databaseUrl: check(
      'DATABASE_URL',
      undefined,
      parsePostgresUrl,
      'an address such as postgres://user@host:5432/database',
    ),
    databaseReadUrls: check(
      'DATABASE_READ_URL',
      [],
      parsePostgresUrls,
      'an address such as postgres://user@host1:5432,host2:5432/database',
    ),
    databaseServeUrl: check(
      'DATABASE_SERVE_URL',
      undefined,
      parsePostgresUrl,
      'an address such as postgres://reader@host:5432/database',
    ),
    dataDir: readEnv(env, 'RETENTION_DATA_DIR') ?? '.retention',
    redisUrl: check(
      'REDIS_URL',
      undefined,
      parseRedisUrl,
      'an address such as redis://host:6379 or rediss://…',
    ),
    host: readEnv(env, 'HOST') ?? '127.0.0.1',
    port: check('PORT', 8787, parsePort, 'a whole number from 0 to 65535'),
    metricsPort: check('METRICS_PORT', undefined, parsePort, 'a whole number from 0 to 65535'),
    metricsHost: readEnv(env, 'METRICS_HOST') ?? '127.0.0.1',
    baseUrl: check(
      'BASE_URL',
      undefined,
      parseBaseUrl,
      'an http:// or https:// address without a query',
    ),
    trustedProxies: check(
      'TRUSTED_PROXIES',
      [],
      parseTrustedProxies,
      (text) =>
        `a number of proxies, or a comma-separated list of addresses and networks such as 10.0.0.0/8; "${splitList(text).find((each) => !isNetwork(each))}" is neither`,
    ),
    logLevel: check('LOG_LEVEL', 'info', parseLogLevel, `one of ${logLevels.join(', ')}`),
    stopSeconds: check(
      'STOP_SECONDS',
      20,
      parseStopSeconds,
      `a whole number of seconds from 1 to ${maxStopSeconds}`,
    ),
    // Not quoted in errors either.
    credentialsKeys: check(
      'CREDENTIALS_KEY',
      [],
      parseKeys,
      '32 random bytes in base64, as "openssl rand -base64 32" prints them; during rotation, the new and the old one, separated by a comma',
    ),
    uploads: parseUploads(check, (name) => readEnv(env, name)),
    mail: parseMail(check),
    syncs: check('SYNC', true, parseSwitch, 'on or off'),
    platforms: Object.fromEntries(
      platforms.map((each) => [
        each.name,
        parsePlatform(each, check, (name) => readEnv(env, name)),
      ]),
    ),
    setsHeapLimit: limitsHeap(readEnv(env, 'NODE_OPTIONS') ?? ''),
    tracing: readTracing(env),
  };
  problems.push(...listContradictions(config));
  if (problems.length > 0) {
    throw new UsageError(
      `The configuration is invalid:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    );
  }
  return Object.freeze(config);
}

/** Conflicts between variables that are valid by themselves. */
function listContradictions(config: Config): string[] {
  const problems: string[] = [];
  if (config.databaseReadUrls.length > 0 && config.databaseUrl === undefined) {
    problems.push('DATABASE_READ_URL names standbys of DATABASE_URL, which is not set.');
  }
  problems.push(...listServeProblems(config));
  for (const [name, urls] of [
    ['DATABASE_URL', [config.databaseUrl]],
    // All hosts of an address share its parameters.
    ['DATABASE_READ_URL', config.databaseReadUrls.slice(0, 1)],
    ['DATABASE_SERVE_URL', [config.databaseServeUrl]],
  ] as const) {
    const [problem] = urls.map((url) => url && problemOf(url));
    if (problem) problems.push(`${name} ${problem}`);
  }
  if (config.metricsPort === config.port && config.port !== 0) {
    problems.push('METRICS_PORT must not be the same as PORT.');
  }
  return problems;
}

/** Keys are read with this login and revoked with the other, so both must use the same server. */
function listServeProblems({ databaseUrl, databaseServeUrl }: Config): string[] {
  if (databaseServeUrl === undefined) return [];
  if (databaseUrl === undefined) {
    return [
      'DATABASE_SERVE_URL is a second login for the database of DATABASE_URL, which is not set.',
    ];
  }
  return differOnlyInLogin(databaseUrl, databaseServeUrl)
    ? []
    : [
        'DATABASE_SERVE_URL must name the server and database of DATABASE_URL, with a different user.',
      ];
}

/** Reads OpenTelemetry's standard variables. Setting an endpoint turns tracing on. */
function readTracing(env: Env): TracingConfig | undefined {
  const hasEndpoint =
    readEnv(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') !== undefined ||
    readEnv(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== undefined;
  const isOff =
    readEnv(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true' ||
    readEnv(env, 'OTEL_TRACES_EXPORTER')?.toLowerCase() === 'none';
  if (!hasEndpoint || isOff) return undefined;
  return {
    sampler: readEnv(env, 'OTEL_TRACES_SAMPLER')?.toLowerCase(),
    samplerArgument: readEnv(env, 'OTEL_TRACES_SAMPLER_ARG'),
  };
}

/** The base URL for a host and port, without a trailing slash. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function parsePostgresUrl(text: string): string | undefined {
  return parseAddress(text) && text;
}

/** Accepts several hosts separated by commas, as libpq does. */
function parsePostgresUrls(text: string): string[] | undefined {
  return parseAddress(text) && splitByHost(text);
}

function parseSwitch(text: string): boolean | undefined {
  return text === 'on' || text === 'off' ? text === 'on' : undefined;
}

function parseRedisUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '') return undefined;
  // After the host, only a database number may follow.
  return /^\/?\d*$/.test(url.pathname) && isDecodable(url.username + url.password)
    ? text
    : undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? Number(text) : undefined;
}

function parseBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    return undefined;
  return url.href.replace(/\/+$/, '');
}

function parseTrustedProxies(text: string): Config['trustedProxies'] | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const networks = splitList(text);
  return networks.every(isNetwork) ? networks : undefined;
}

/** An IP address, with an optional prefix length. /0 is rejected, since it would trust everyone. */
function isNetwork(text: string): boolean {
  const [, address = '', bits = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128);
}

function parseLogLevel(text: string): LogLevel | undefined {
  return logLevels.find((level) => level === text);
}

/** @param flags of Node.js, separated by spaces */
export function limitsHeap(flags: string): boolean {
  return /--max[-_](?:old[-_]space|heap)[-_]size/.test(flags);
}

function parseStopSeconds(text: string): number | undefined {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return seconds >= 1 && seconds <= maxStopSeconds ? seconds : undefined;
}
