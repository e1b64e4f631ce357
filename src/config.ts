import { isIP } from 'node:net';
import { differOnlyInLogin, parseAddress, problemOf, splitByHost } from './database-url.ts';
import { UsageError } from './errors.ts';

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];
/** Longer would only hide a mistake: supervisors kill a process long before. */
const maxStopSeconds = 3600;

/** The variables that a platform is configured by. */
export interface PlatformSettings {
  /** The platform's. */
  readonly name: string;
  /** Names the file with its shops and how to sign in to them. */
  readonly credentialsFile: string;
  /** Has the secrets that its webhooks are signed with; `want` completes "must be …". */
  readonly webhookSecrets: { readonly variable: string; readonly want: string };
}

export interface PlatformConfig {
  /** Undefined means that no shop is synchronised. */
  readonly credentialsFile: string | undefined;
  /** The newest first; none means that no webhooks are received. */
  readonly webhookSecrets: readonly string[];
}

export interface Config {
  /** A PostgreSQL server; undefined means the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** Hot standbys of that server, one address each. */
  readonly databaseReadUrls: readonly string[];
  /** The same server by a login that may only select; undefined means that of `databaseUrl`. */
  readonly databaseServeUrl: string | undefined;
  readonly dataDir: string;
  /** Where all instances limit together; undefined means that each limits by itself. */
  readonly redisUrl: string | undefined;
  readonly host: string;
  /** 0 lets the operating system choose. */
  readonly port: number;
  /** Where Prometheus finds the metrics, apart from the public port; undefined means nowhere. */
  readonly metricsPort: number | undefined;
  /** Where the metrics port listens; it asks for no key. */
  readonly metricsHost: string;
  /** The public address without a trailing slash; undefined means the address listened on. */
  readonly baseUrl: string | undefined;
  /** Addresses and networks, or a number of hops, whose `X-Forwarded-*` headers are believed. */
  readonly trustedProxies: readonly string[] | number;
  readonly logLevel: LogLevel;
  /** How long a server that is told to stop may take, before it closes the connections that are left. */
  readonly stopSeconds: number;
  /** By the platform's name; empty where nothing is set for it. */
  readonly platforms: Readonly<Record<string, PlatformConfig>>;
  /** Whether NODE_OPTIONS limits the heap; that limit takes precedence. */
  readonly setsHeapLimit: boolean;
  /** How traces are sampled; undefined means that none are made. */
  readonly tracing: TracingConfig | undefined;
}

/** All else of tracing is read by OpenTelemetry's own libraries. */
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
 * The whole configuration, from the environment, read once at start.
 * @throws UsageError naming everything that is wrong, together
 */
export function parseConfig(env: Env, platforms: readonly PlatformSettings[] = []): Config {
  const problems: string[] = [];
  const check = <T>(
    name: string,
    fallback: T,
    parse: (text: string) => T | undefined,
    want: string | ((text: string) => string),
  ) => {
    const text = readEnv(env, name);
    if (text === undefined) return fallback;
    const value = parse(text);
    if (value === undefined) {
      problems.push(`${name} must be ${typeof want === 'string' ? want : want(text)}.`);
    }
    return value ?? fallback;
  };

  const config: Config = {
    // The value is never quoted: it holds a password.
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
        `a number of proxies, or addresses and networks such as 10.0.0.0/8 with commas between, and "${splitList(text).find((each) => !isNetwork(each))}" is none`,
    ),
    logLevel: check('LOG_LEVEL', 'info', parseLogLevel, `one of ${logLevels.join(', ')}`),
    stopSeconds: check(
      'STOP_SECONDS',
      20,
      parseStopSeconds,
      `a whole number of seconds from 1 to ${maxStopSeconds}`,
    ),
    platforms: Object.fromEntries(
      platforms.map(({ name, credentialsFile, webhookSecrets }) => [
        name,
        {
          credentialsFile: readEnv(env, credentialsFile),
          // Never quoted either.
          webhookSecrets: check(webhookSecrets.variable, [], parseSecrets, webhookSecrets.want),
        },
      ]),
    ),
    setsHeapLimit: limitsHeap(readEnv(env, 'NODE_OPTIONS') ?? ''),
    tracing: readTracing(env),
  };
  if (config.databaseReadUrls.length > 0 && config.databaseUrl === undefined) {
    problems.push('DATABASE_READ_URL names standbys of DATABASE_URL, which is not set.');
  }
  problems.push(...listServeProblems(config));
  for (const [name, urls] of [
    ['DATABASE_URL', [config.databaseUrl]],
    // The same parameters for all of them.
    ['DATABASE_READ_URL', config.databaseReadUrls.slice(0, 1)],
    ['DATABASE_SERVE_URL', [config.databaseServeUrl]],
  ] as const) {
    const [problem] = urls.map((url) => url && problemOf(url));
    if (problem) problems.push(`${name} ${problem}`);
  }
  if (config.metricsPort === config.port && config.port !== 0) {
    problems.push('METRICS_PORT must not be the same as PORT.');
  }
  if (problems.length > 0) {
    throw new UsageError(
      `The configuration is not usable:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    );
  }
  return Object.freeze(config);
}

/** Keys are looked up by this login, so it must see at once what is written by the other one. */
function listServeProblems({ databaseUrl, databaseServeUrl }: Config): string[] {
  if (databaseServeUrl === undefined) return [];
  if (databaseUrl === undefined) {
    return ['DATABASE_SERVE_URL is another login to DATABASE_URL, which must be set as well.'];
  }
  return differOnlyInLogin(databaseUrl, databaseServeUrl)
    ? []
    : ['DATABASE_SERVE_URL must name the server and database of DATABASE_URL, and another user.'];
}

/** By the variables that OpenTelemetry has for everybody; an endpoint is what turns it on. */
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

/** The address of what listens there, without a trailing slash. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function parsePostgresUrl(text: string): string | undefined {
  return parseAddress(text) && text;
}

/** Several hosts with commas between them, as PostgreSQL's own programs take them. */
function parsePostgresUrls(text: string): string[] | undefined {
  return parseAddress(text) && splitByHost(text);
}

/** Nobody has a secret as short as what a slip of the fingers leaves. */
function parseSecrets(text: string): string[] | undefined {
  const secrets = splitList(text);
  return secrets.every((secret) => /^\S{16,}$/.test(secret)) ? secrets : undefined;
}

function parseRedisUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '') return undefined;
  // What else follows the host is the number of a database.
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

function splitList(text: string): string[] {
  return text.split(',').map((each) => each.trim());
}

function parseTrustedProxies(text: string): Config['trustedProxies'] | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const networks = splitList(text);
  return networks.every(isNetwork) ? networks : undefined;
}

/** An address, or one with the length of a prefix; that of 0 would be everybody. */
function isNetwork(text: string): boolean {
  const [, address = '', bits = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128);
}

function parseLogLevel(text: string): LogLevel | undefined {
  return logLevels.find((level) => level === text);
}

/** @param flags of Node.js, with spaces between them */
export function limitsHeap(flags: string): boolean {
  return /--max[-_](?:old[-_]space|heap)[-_]size/.test(flags);
}

function parseStopSeconds(text: string): number | undefined {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return seconds >= 1 && seconds <= maxStopSeconds ? seconds : undefined;
}
