import { differOnlyInLogin, problemOf } from './database-url.ts';
import { UsageError } from '../errors.ts';
import {
  type AuditLog,
  type MailConfig,
  type LogLevel,
  type SsoConfig,
  type UploadConfig,
  nodeSettings,
  settings,
  traceSettings,
} from './settings.ts';
import { type PlatformConfig, type PlatformSettings, parsePlatform } from './platform-config.ts';
import { type Env, type Values, readSettings } from './read-settings.ts';

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
  /** Where to report vulnerabilities; undefined means the mailbox `security` at the public address. */
  readonly securityContact: string | undefined;
  /** Proxies whose `X-Forwarded-*` headers are trusted: addresses, networks, or a hop count. */
  readonly trustedProxies: readonly string[] | number;
  /** Internal networks in which merchants' databases may lie: addresses and networks. */
  readonly sourceNetworks: readonly string[];
  readonly logLevel: LogLevel;
  /** Where entries of the audit log are written beside the database. */
  readonly auditLog: AuditLog;
  /** How long a server may take to stop before it closes the remaining connections. */
  readonly stopSeconds: number;
  /** Keys of 32 bytes that encrypt platforms' credentials, newest first; empty means that none are stored. */
  readonly credentialsKeys: readonly Buffer[];
  /** Whether all owners need a second factor, whatever their shops say. */
  readonly requiresSecondFactor: boolean;
  readonly uploads: UploadConfig;
  /** How digests and alerts are sent; undefined means that none are. */
  readonly mail: MailConfig | undefined;
  /** Where GitHub's keys for reports of leaked keys are; undefined means that none are received. */
  readonly secretScanningKeysUrl: string | undefined;
  /** Undefined means that people sign in with passwords, or at issuers of their shops. */
  readonly sso: SsoConfig | undefined;
  readonly localPasswords: boolean;
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

/**
 * Parses the configuration from the environment.
 * @throws UsageError that lists every problem
 */
export function parseConfig(env: Env, platforms: readonly PlatformSettings[] = []): Config {
  const problems: string[] = [];
  const values = readSettings(
    {
      ...settings.Database,
      ...settings.Network,
      ...settings.Process,
      ...settings['Owners and their data'],
      ...nodeSettings,
      ...traceSettings,
    },
    env,
    problems,
  );
  const config: Config = {
    databaseUrl: values.DATABASE_URL,
    databaseReadUrls: values.DATABASE_READ_URL,
    databaseServeUrl: values.DATABASE_SERVE_URL,
    dataDir: values.RETENTION_DATA_DIR,
    redisUrl: values.REDIS_URL,
    host: values.HOST,
    port: values.PORT,
    metricsPort: values.METRICS_PORT,
    metricsHost: values.METRICS_HOST,
    baseUrl: values.BASE_URL,
    securityContact: values.SECURITY_CONTACT,
    trustedProxies: values.TRUSTED_PROXIES,
    sourceNetworks: values.SOURCE_NETWORKS,
    logLevel: values.LOG_LEVEL,
    auditLog: values.AUDIT_LOG,
    stopSeconds: values.STOP_SECONDS,
    credentialsKeys: values.CREDENTIALS_KEY,
    requiresSecondFactor: values.REQUIRE_SECOND_FACTOR,
    uploads: { folder: values.UPLOAD_DIR, maxBytes: values.UPLOAD_MAX_MEGABYTES },
    mail:
      values.SMTP_URL === undefined ? undefined : { url: values.SMTP_URL, from: values.SMTP_FROM },
    secretScanningKeysUrl: values.SECRET_SCANNING_KEYS_URL,
    sso: ssoOf(values, problems),
    localPasswords: values.LOCAL_PASSWORDS,
    syncs: values.SYNC,
    platforms: Object.fromEntries(
      platforms.map((each) => [each.name, parsePlatform(each, env, problems)]),
    ),
    setsHeapLimit: limitsHeap(values.NODE_OPTIONS ?? ''),
    tracing: tracingOf(values),
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

function ssoOf(
  values: Values<(typeof settings)['Owners and their data'] & (typeof settings)['Network']>,
  problems: string[],
): SsoConfig | undefined {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  } = values;
  if (issuer === undefined) {
    if (!values.LOCAL_PASSWORDS) {
      problems.push('LOCAL_PASSWORDS=off needs OIDC_ISSUER, the only other way to sign in.');
    }
    return undefined;
  }
  if (clientId === undefined || clientSecret === undefined || values.BASE_URL === undefined) {
    problems.push('OIDC_ISSUER needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and BASE_URL.');
    return undefined;
  }
  return { issuer, clientId, clientSecret, name: values.OIDC_NAME ?? new URL(issuer).host };
}

function tracingOf(values: Values<typeof traceSettings>): TracingConfig | undefined {
  const hasEndpoint =
    values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined ||
    values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined;
  const isOff =
    values.OTEL_SDK_DISABLED?.toLowerCase() === 'true' ||
    values.OTEL_TRACES_EXPORTER?.toLowerCase() === 'none';
  if (!hasEndpoint || isOff) return undefined;
  return {
    sampler: values.OTEL_TRACES_SAMPLER?.toLowerCase(),
    samplerArgument: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** The base URL for a host and port, without a trailing slash. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** @param flags of Node.js, separated by spaces */
export function limitsHeap(flags: string): boolean {
  return /--max[-_](?:old[-_]space|heap)[-_]size/.test(flags);
}
