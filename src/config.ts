import { UsageError } from './errors.ts';

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

export interface Config {
  /** A PostgreSQL server; undefined means the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly host: string;
  /** 0 lets the operating system choose. */
  readonly port: number;
  /** The public address without a trailing slash; undefined means the address listened on. */
  readonly baseUrl: string | undefined;
  readonly logLevel: LogLevel;
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
export function parseConfig(env: Env): Config {
  const problems: string[] = [];
  const check = <T>(
    name: string,
    fallback: T,
    parse: (text: string) => T | undefined,
    want: string,
  ) => {
    const text = readEnv(env, name);
    if (text === undefined) return fallback;
    const value = parse(text);
    if (value === undefined) problems.push(`${name} must be ${want}.`);
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
    dataDir: readEnv(env, 'RETENTION_DATA_DIR') ?? '.retention',
    host: readEnv(env, 'HOST') ?? '127.0.0.1',
    port: check('PORT', 8787, parsePort, 'a whole number from 0 to 65535'),
    baseUrl: check(
      'BASE_URL',
      undefined,
      parseBaseUrl,
      'an http:// or https:// address without a query',
    ),
    logLevel: check('LOG_LEVEL', 'info', parseLogLevel, `one of ${logLevels.join(', ')}`),
  };
  if (readEnv(env, 'REDIS_URL') !== undefined) {
    problems.push(
      'REDIS_URL is set, but this version limits each process by itself; unset it and run one instance.',
    );
  }
  if (problems.length > 0) {
    throw new UsageError(
      `The configuration is not usable:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    );
  }
  return Object.freeze(config);
}

function parsePostgresUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== '' ? text : undefined;
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

function parseLogLevel(text: string): LogLevel | undefined {
  return logLevels.find((level) => level === text);
}
