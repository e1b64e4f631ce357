import { tmpdir } from 'node:os';
import path from 'node:path';
import { isNetwork } from './networks.ts';
import { parseAddress, splitByHost } from './database-url.ts';
import { isSafeAddress, parseKeys, splitList } from './platform-config.ts';
import type { Settings } from './read-settings.ts';

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const auditLogs = ['off', 'stdout'] as const;
export type AuditLog = (typeof auditLogs)[number];

/** How mail is sent. */
export interface MailConfig {
  /** With its password; never shown. */
  readonly url: string;
  /** The sender's address; undefined means one at the host of the service's address. */
  readonly from: string | undefined;
}

/** The issuer at which all people of the installation can sign in. */
export interface SsoConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Never shown. */
  readonly clientSecret: string;
  readonly name: string;
}

/** Where files that owners upload are kept, and how large they may be. */
export interface UploadConfig {
  readonly folder: string;
  readonly maxBytes: number;
  /** How large the heap of a process may be that reads one. By default the machine decides; tests set it. */
  readonly heapMegabytes?: number;
}

const megabyte = 1024 * 1024;

export const defaultUploads: UploadConfig = {
  // Other users' folders there are not ours.
  folder: path.join(tmpdir(), `retention-uploads-${process.getuid?.() ?? 0}`),
  maxBytes: 1024 * megabyte,
};

/** Supervisors kill a process long before this, so a longer time is a mistake. */
const maxStopSeconds = 3600;
const port = { parse: parsePort, expected: 'a whole number from 0 to 65535' } as const;

/** Every setting of the service but those of platforms, under the headings of docs/settings.md. */
export const settings = {
  Database: {
    DATABASE_URL: {
      about:
        'the PostgreSQL server, `postgres://user:password@host:port/database`; with several hosts, `host1:port,host2:port`, the one that accepts writes',
      unset: '[the embedded database](operations.md#which-database)',
      parse: parsePostgresUrl,
      expected: 'an address such as postgres://user@host:5432/database',
    },
    DATABASE_READ_URL: {
      about:
        '[hot standbys](operations.md#standbys) of that server, or [workers](scaling.md#reading-from-workers) of its Citus cluster: `postgres://user:password@host1:port,host2:port/database`',
      unset: 'reads go to the server',
      fallback: [],
      parse: parsePostgresUrls,
      expected: 'an address such as postgres://user@host1:5432,host2:5432/database',
    },
    DATABASE_SERVE_URL: {
      about:
        'the address of `DATABASE_URL` with another user that [may only select](operations.md#a-login-that-only-reads)',
      unset: 'the login of `DATABASE_URL`',
      parse: parsePostgresUrl,
      expected: 'an address such as postgres://reader@host:5432/database',
    },
    RETENTION_DATA_DIR: {
      about:
        'the folder of the embedded database; see [what it promises](operations.md#what-the-embedded-database-promises)',
      unset: '`.retention` in the current folder',
      fallback: '.retention',
    },
  },
  Network: {
    HOST: { about: 'the address to listen on', fallback: '127.0.0.1' },
    PORT: { ...port, about: 'the port; 0 picks a free one', fallback: 8787 },
    BASE_URL: {
      about:
        'the public URL, `http://` or `https://`, which the documentation, links and mail have; it changes no path',
      unset: 'the address listened on',
      parse: parseBaseUrl,
      expected: 'an http:// or https:// address without a query',
    },
    SECURITY_CONTACT: {
      about:
        'where to report vulnerabilities, `mailto:…` or `https://…`; with `BASE_URL`, it stands in `/.well-known/security.txt`',
      unset: '`mailto:security@` and the host of `BASE_URL`',
      parse: parseContact,
      expected: 'an address such as mailto:security@example.com or https://example.com/security',
    },
    TRUSTED_PROXIES: {
      about:
        'whose `X-Forwarded-*` headers are trusted: a number of proxies, or a list of addresses and networks; see [Behind a proxy](operations.md#behind-a-proxy)',
      unset: 'none are trusted',
      fallback: [],
      parse: parseTrustedProxies,
      expected: (text: string) =>
        `a number of proxies, or a comma-separated list of addresses and networks such as 10.0.0.0/8; "${splitList(text).find((each) => !isNetwork(each))}" is neither`,
    },
    SOURCE_NETWORKS: {
      about:
        'internal networks, such as 10.1.0.0/16, in which [databases of merchants](postgres.md) and [issuers of shops](operations.md#single-sign-on) may lie; others must be reachable from the internet',
      unset: 'none',
      fallback: [],
      parse: parseNetworks,
      expected: (text: string) =>
        `a comma-separated list of addresses and networks such as 10.1.0.0/16; "${splitList(text).find((each) => !isNetwork(each))}" is neither`,
    },
    REDIS_URL: {
      about:
        '[Redis or Valkey](operations.md#redis), through which instances share limits: `redis://user:password@host:port/number`, or `rediss://…` for TLS',
      unset: 'each instance limits alone',
      parse: parseRedisUrl,
      expected: 'an address such as redis://host:6379 or rediss://…',
    },
    METRICS_PORT: {
      ...port,
      about:
        'the port of the [metrics](operations.md#metrics); 0 picks a free one, which the log names',
      unset: 'no metrics',
    },
    METRICS_HOST: {
      about: 'the address that this port listens on; choose one that only Prometheus can reach',
      fallback: '127.0.0.1',
    },
  },
  Process: {
    LOG_LEVEL: {
      about: logLevels.map((level) => `\`${level}\``).join(', '),
      fallback: 'info',
      parse: (text: string) => logLevels.find((level) => level === text),
      expected: `one of ${logLevels.join(', ')}`,
    },
    AUDIT_LOG: {
      about:
        '`stdout`: writes the entries of the [audit log](security.md#the-audit-log) that it makes to standard output, too, one JSON object a line',
      fallback: 'off',
      parse: (text: string) => auditLogs.find((each) => each === text),
      expected: auditLogs.join(' or '),
    },
    STOP_SECONDS: {
      about: `how long [stopping](operations.md#stopping) may take, 1 to ${maxStopSeconds}`,
      fallback: 20,
      parse: parseStopSeconds,
      expected: `a whole number of seconds from 1 to ${maxStopSeconds}`,
    },
  },
  'Owners and their data': {
    CREDENTIALS_KEY: {
      about:
        "encrypts the [platforms' credentials](shopify.md#connecting-a-shop), and the secrets of [push sources](push.md#a-source), [authenticator apps](operations.md#second-factors) and [single sign-on](operations.md#single-sign-on): 32 bytes in base64, as `openssl rand -base64 32` prints them; `new,old` while it is replaced",
      unset: 'only the credentials file works; secrets are not encrypted',
      fallback: [],
      parse: parseKeys,
      expected:
        '32 random bytes in base64, as "openssl rand -base64 32" prints them; during rotation, the new and the old one, separated by a comma',
    },
    REQUIRE_SECOND_FACTOR: {
      about:
        '`all`: every owner needs a [second factor](operations.md#second-factors), whatever their shops demand',
      unset: "as each shop's owners say",
      fallback: false,
      parse: (text: string) => text === 'all' || undefined,
      expected: 'all, or nothing',
    },
    UPLOAD_DIR: {
      about:
        'the folder for [files that owners upload](import.md#on-the-page-sources), until they are imported; instances behind one address share it',
      unset: "a folder in the system's temporary one",
      fallback: defaultUploads.folder,
    },
    UPLOAD_MAX_MEGABYTES: {
      about: 'how large such a file may be, 1 to 1000000',
      unset: '`1024`',
      fallback: defaultUploads.maxBytes,
      parse: parseMegabytes,
      expected: 'a whole number of megabytes from 1 to 1000000',
    },
    SMTP_URL: {
      about:
        'the server that sends [mail](operations.md#mail), such as digests and links for forgotten passwords: `smtp://user:password@host:587`, or `smtps://…` for TLS from the start; a password requires TLS, except on this machine',
      unset: 'no mail is sent',
      parse: parseSmtpUrl,
      // Not quoted in errors: it has a password.
      expected: 'an address such as smtp://user:password@host:587 or smtps://…',
    },
    SMTP_FROM: {
      about: 'the address that mail comes from',
      unset: '`retention@` and the host of `BASE_URL`',
      parse: parseSender,
      expected: 'an address such as ana@example.com',
    },
    SECRET_SCANNING_KEYS_URL: {
      about:
        "where GitHub publishes the keys with which it signs its [reports of leaked keys](security.md#leaked-keys); GitHub's own address is `https://api.github.com/meta/public_keys/secret_scanning`",
      unset: 'no reports are received',
      parse: (text: string) => (isSafeAddress(URL.parse(text)) ? text : undefined),
      expected: 'an https:// address without a query',
    },
    OIDC_ISSUER: {
      about:
        'the OpenID Connect issuer at which people [sign in](operations.md#single-sign-on) to this installation; needs `OIDC_CLIENT_ID`, `OIDC_CLIENT_SECRET` and `BASE_URL`',
      unset: 'none',
      parse: parseIssuer,
      expected: 'an https:// address without a query (http:// on this machine only)',
    },
    OIDC_CLIENT_ID: { about: 'the client that is registered there', unset: 'none' },
    OIDC_CLIENT_SECRET: { about: 'its secret', unset: 'none' },
    OIDC_NAME: { about: 'what people know the issuer as', unset: 'its host' },
    LOCAL_PASSWORDS: {
      about: '`off`: everybody signs in at an issuer; links of `owners reset` still work',
      unset: '`on`',
      fallback: true,
      parse: parseSwitch,
      expected: 'on or off',
    },
    SYNC: {
      about: '`off`: this instance syncs no platform',
      unset: '`on`',
      fallback: true,
      parse: parseSwitch,
      expected: 'on or off',
    },
  },
} as const satisfies Readonly<Record<string, Settings>>;

/** Read when the process starts, before `.env` is. */
export const nodeSettings = {
  RETENTION_NODE: {
    about: 'the Node.js that the service runs on, of version `>=26.10 <27`',
    unset: 'the `node` on the `PATH` if it is one, else the one that npm installed',
  },
  NODE_OPTIONS: {
    about:
      "Node.js' own options; `--max-old-space-size` replaces the size of the heap that [the memory limit](operations.md#memory) gives",
    unset: 'none',
  },
  NODE_COMPILE_CACHE: {
    about:
      'the folder for compiled code, which halves the time of every start, and an empty database of 41 MB, which speeds up dry runs; name one where the service cannot write the default; empty keeps none',
    unset: '`node_modules/.cache/compile`',
  },
} as const satisfies Settings;

/** OpenTelemetry's own, which its libraries read too. An endpoint turns tracing on. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about: 'the collector, `http://collector:4318`; `/v1/traces` is added',
    unset: 'no traces',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    about: 'the same for traces alone, used as it is',
    unset: '`OTEL_EXPORTER_OTLP_ENDPOINT`',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about:
      'for the requests to it, as are `…_TIMEOUT`, `…_COMPRESSION` and `…_CERTIFICATE`; each also as `OTEL_EXPORTER_OTLP_TRACES_…`',
    unset: 'none',
  },
  OTEL_SERVICE_NAME: {
    about: 'identifies the service, as does `OTEL_RESOURCE_ATTRIBUTES`',
    unset: '`retention-data-service`',
  },
  OTEL_TRACES_SAMPLER: {
    about:
      '`always_on`, `always_off`, `traceidratio`, or one of them prefixed with `parentbased_`; the ratio is in `OTEL_TRACES_SAMPLER_ARG`',
    unset: '`parentbased_always_on`',
  },
  OTEL_TRACES_SAMPLER_ARG: { about: 'the ratio, 0 to 1', unset: '`1`' },
  OTEL_TRACES_EXPORTER: { about: '`none`: no traces, even with an endpoint', unset: '`otlp`' },
  OTEL_SDK_DISABLED: { about: '`true`: the same', unset: '`false`' },
} as const satisfies Settings;

/** @returns undefined unless it can be an OpenID Connect issuer */
export function parseIssuer(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || url.search !== '' || url.hash !== '' || url.username !== '') return undefined;
  const isLocal = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal) ? text : undefined;
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

function parseTrustedProxies(text: string): readonly string[] | number | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  return parseNetworks(text);
}

function parseNetworks(text: string): readonly string[] | undefined {
  const networks = splitList(text);
  return networks.every(isNetwork) ? networks : undefined;
}

function parseStopSeconds(text: string): number | undefined {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return seconds >= 1 && seconds <= maxStopSeconds ? seconds : undefined;
}

function parseSmtpUrl(text: string): string | undefined {
  const url = URL.parse(text);
  const isSmtp = url?.protocol === 'smtp:' || url?.protocol === 'smtps:';
  return isSmtp && url.hostname !== '' && url.search === '' ? text : undefined;
}

function parseContact(text: string): string | undefined {
  const url = URL.parse(text);
  const isContact =
    url?.protocol === 'https:' || (url?.protocol === 'mailto:' && url.pathname.includes('@'));
  return isContact ? url.href : undefined;
}

function parseSender(text: string): string | undefined {
  return /^[^\s\p{C}@<>,;"]+@[^\s\p{C}@<>,;"]+$/u.test(text) ? text : undefined;
}

/** @returns bytes */
function parseMegabytes(text: string): number | undefined {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= 1_000_000 ? count * megabyte : undefined;
}
