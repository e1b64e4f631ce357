import { once } from 'node:events';
import { within } from '../time-limit.ts';
import { systemClock } from '../clock.ts';
import { type Config, urlOf } from '../config/config.ts';
import { loginOf, nameOf, withoutPassword } from '../config/database-url.ts';
import type { MailConfig } from '../config/settings.ts';
import { openMailer, senderOf } from '../mail/mailer.ts';
import { platforms } from '../platforms/registry.ts';
import { connect } from '../store/database.ts';
import { listMissingMigrations } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import { isHeldToShops, listServingProblems } from '../store/serving-login.ts';
import { findCitusVersion } from '../store/cluster/cluster.ts';
import { checkStandby } from '../store/replicas/freshness.ts';
import {
  type Finding,
  examineCluster,
  appsCheck,
  examineApps,
  examineIssuers,
  issuersCheck,
  examinePushSources,
  failure,
  listWarnings,
  examineConnections,
  examineCredentials,
  shownSettings,
} from './findings.ts';
import { type FailoverSafety, assessFailover } from './store.ts';
import { defineCommand, exitStatus } from './framework/command.ts';
import { memoryLimitMegabytes } from './serve/heap.ts';

const maxSkewMilliseconds = 2_000;
const timeoutMilliseconds = 10_000;

export const doctorCommand = defineCommand({
  name: 'doctor',
  about: 'shows the configuration without secrets, and checks database, Redis, schema and clock',
  async run(_, { config }) {
    const memoryLimit = memoryLimitMegabytes();
    const findings: Finding[] = [
      { check: 'runtime', ok: true, detail: `Node.js ${process.version}` },
      ...(memoryLimit === undefined
        ? []
        : [{ check: 'memory', ok: true, detail: `limited to ${memoryLimit} MB` }]),
      ...(await examine(config)),
      ...listWarnings(config).map((warning) => ({ ...warning, ok: true, warning: true }) as const),
      ...(config.redisUrl === undefined ? [] : [await examineRedis(config.redisUrl)]),
      ...(config.mail === undefined ? [] : [await examineMail(config.mail)]),
      ...(
        await Promise.all(platforms.map((platform) => examineCredentials(platform, config)))
      ).flat(),
    ];
    return {
      ok: findings.every(({ ok }) => ok),
      configuration: withoutSecrets(config),
      findings,
    };
  },
  show({ configuration, findings }) {
    const width = Math.max(...Object.keys(configuration).map((name) => name.length));
    const defaults = defaultsOf(configuration);
    return [
      ...Object.entries(configuration).map(
        ([name, value]) =>
          `${name.padEnd(width)} ${String(value ?? '') || (defaults[name] ?? 'none')}`,
      ),
      '',
      ...findings.map(
        ({ check, ok, warning: isWarning, detail }) =>
          `${isWarning ? 'warn' : ok ? 'ok  ' : 'FAIL'}  ${check}: ${detail}`,
      ),
    ].join('\n');
  },
  end: ({ ok }) => (ok ? exitStatus.done : exitStatus.failed),
});

/** The configuration as people may see it. */
function withoutSecrets(config: Config) {
  const { platforms: _, syncs, mail, uploads, sso, ...settings } = config;
  const baseUrl = config.baseUrl ?? urlOf(config.host, config.port);
  return {
    ...settings,
    ...(Object.assign(
      {},
      ...platforms.map((platform) => shownSettings(platform, config)),
    ) as Readonly<Record<string, unknown>>),
    databaseUrl: config.databaseUrl && withoutPassword(config.databaseUrl),
    databaseServeUrl: config.databaseServeUrl && withoutPassword(config.databaseServeUrl),
    redisUrl: config.redisUrl && withoutPassword(config.redisUrl),
    baseUrl,
    tracing: config.tracing && 'on',
    uploadDir: uploads.folder,
    uploadMaxMegabytes: uploads.maxBytes / 1024 ** 2,
    smtpUrl: mail && withoutPassword(mail.url),
    oidcIssuer: sso?.issuer,
    oidcClientId: sso?.clientId,
    oidcName: sso?.name,
    smtpFrom: mail && senderOf(mail, new URL(baseUrl).hostname),
    sync: syncs ? 'on' : 'off',
    credentialsKeys: config.credentialsKeys.map(() => 'redacted'),
    databaseReadUrls: config.databaseReadUrls.map(withoutPassword),
  };
}

/** What is in effect where a setting has no value. */
function defaultsOf({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): Readonly<Record<string, string>> {
  return {
    databaseUrl: `the embedded database in ${dataDir}`,
    databaseReadUrls: 'none: reads go to the database',
    databaseServeUrl: databaseUrl === undefined ? 'none' : 'the login of databaseUrl',
    redisUrl: 'none: each instance counts requests by itself',
    metricsPort: 'off',
    tracing: 'off',
    smtpUrl: 'none: no mail is sent',
  };
}

async function examine(config: Config): Promise<Finding[]> {
  let store: Store;
  try {
    store = await openStore({ ...config, role: 'command' });
  } catch (error) {
    return [failure('database', error)];
  }
  try {
    const database = await examineDatabase(store);
    const hasSchema = database.every(({ check, ok }) => check !== 'schema' || ok);
    return [
      ...database,
      ...(await attempt('cluster', examineCluster(store.write))),
      ...(hasSchema
        ? [
            ...(await attempt('connected shops', examineConnections(config, store.write))),
            ...(await attempt('push sources', examinePushSources(config, store.write))),
            ...(await attempt(appsCheck, examineApps(config, store.write))),
            ...(await attempt(issuersCheck, examineIssuers(config, store.write))),
          ]
        : []),
      ...(await attempt('failover', examineFailover(config, store))),
      ...(config.databaseServeUrl === undefined
        ? []
        : [await examineServingLogin(config.databaseServeUrl)]),
      ...(await Promise.all(config.databaseReadUrls.map((url) => examineStandby(store, url)))),
    ];
  } catch (error) {
    return [failure('database', error)];
  } finally {
    await store.close();
  }
}

/** The findings of a check; if it fails, for example for lack of privileges, only that it failed. */
async function attempt(check: string, findings: Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await inTime(findings);
  } catch (error) {
    return [failure(check, error)];
  }
}

async function examineDatabase(store: Store): Promise<Finding[]> {
  const [server] = await inTime(
    store.primary.keys<{ version: string; number: number; now: Date }[]>`
      select current_setting('server_version') as version,
        current_setting('server_version_num')::int as number, clock_timestamp() as now`,
  );
  if (!server) throw new Error('the server answered nothing');
  const skew = Math.abs(server.now.getTime() - systemClock.now());
  return [
    {
      check: 'database',
      ok: server.number >= 140_000,
      detail: `PostgreSQL ${server.version}${server.number >= 140_000 ? '' : ', but 14 or newer is needed'}`,
    },
    ...(await attempt('schema', examineSchema(store))),
    {
      check: 'clock',
      ok: skew <= maxSkewMilliseconds,
      detail: `${skew} ms off the database's clock`,
    },
  ];
}

async function examineSchema({ primary }: Store): Promise<Finding[]> {
  const missing = await listMissingMigrations(primary.keys);
  const ok = missing.length === 0;
  const detail = ok ? 'up to date' : `missing ${missing.join(', ')}; run "retention migrate"`;
  return [{ check: 'schema', ok, detail }];
}

const failoverFindings: Readonly<Record<FailoverSafety, Pick<Finding, 'warning' | 'detail'>[]>> = {
  'no standby': [],
  waits: [{ detail: 'revocations wait for a synchronous standby' }],
  blocked: [
    {
      warning: true,
      detail:
        'synchronous_standby_names is set, but no standby is connected: revocations and all other writes wait until one connects.',
    },
  ],
  unknown: [
    {
      warning: true,
      detail:
        'This login cannot see whether standbys stream from the server, so it is unknown whether a failover can bring back revoked keys. Grant it select on pg_stat_replication and pg_replication_slots.',
    },
  ],
  'can be undone': [
    {
      warning: true,
      detail:
        'The standbys are asynchronous: a failover can bring back a key that was revoked just before it. Set synchronous_standby_names on the server, or be ready to revoke again ("After a failover" in docs/operations.md).',
    },
  ],
};

async function examineFailover(config: Config, { primary }: Store): Promise<Finding[]> {
  const safety = await assessFailover(config, primary.keys);
  return failoverFindings[safety].map((found) => ({ check: 'failover', ok: true, ...found }));
}

/** Counts a request as the limiter does, for a key that does not exist. */
async function examineMail(mail: MailConfig): Promise<Finding> {
  const mailer = await openMailer(mail, 'localhost');
  try {
    await inTime(mailer.verify());
    const accepts = mailer.requiresTls ? 'the login, over TLS' : 'connections';
    return { check: 'mail', ok: true, detail: `the mail server accepts ${accepts}` };
  } catch (error) {
    return failure('mail', error);
  } finally {
    mailer.close();
  }
}

async function examineRedis(url: string): Promise<Finding> {
  const { createRedisClient, explainRedisError, probe, takeFromWindow } =
    await import('../access/limiter/rolling-redis-limiter.ts');
  const client = createRedisClient(url);
  const ready = once(client, 'ready');
  client.on('error', () => {
    // The wait for "ready" has already failed with the first error.
  });
  try {
    client.connect().catch(() => {});
    await inTime(ready);
    const { server, version } = await inTime(client.hello(2));
    await inTime(takeFromWindow(client, probe.holder, probe.limit));
    const isNewEnough = Number.parseInt(version, 10) >= 6;
    const name = server === 'valkey' ? 'Valkey' : 'Redis';
    return {
      check: 'redis',
      ok: isNewEnough,
      detail: `${name} ${version}${isNewEnough ? '' : ', but 6 or newer is needed'}`,
    };
  } catch (error) {
    return failure('redis', explainRedisError(error));
  } finally {
    client.destroy();
  }
}

async function examineServingLogin(url: string): Promise<Finding> {
  const check = 'serving login';
  const sql = connect(url, {
    name: 'doctor',
    connections: 1,
    readOnly: true,
    statementTimeoutMilliseconds: 5_000,
  });
  try {
    const problems = await inTime(listServingProblems(sql));
    if (problems.length > 0) {
      return {
        check,
        ok: false,
        detail: `${problems.join('; ')}; run "retention migrate --roles"`,
      };
    }
    const detail = `"${loginOf(url).user}" can read served data and nothing else`;
    if (await inTime(isHeldToShops(sql))) {
      return { check, ok: true, detail: `${detail}, one shop at a time` };
    }
    if ((await inTime(findCitusVersion(sql))) !== undefined) {
      return { check, ok: true, detail: `${detail}, but of all shops, as always on Citus` };
    }
    return {
      check,
      ok: true,
      warning: true,
      detail: `${detail}, but of all shops. Once every instance runs this version, run "retention migrate --roles".`,
    };
  } catch (error) {
    return failure(check, error);
  } finally {
    await sql.end(0);
  }
}

async function examineStandby({ primary }: Store, url: string): Promise<Finding> {
  const check = `standby ${nameOf(url)}`;
  try {
    return { check, ...(await inTime(checkStandby(primary.keys, url))) };
  } catch (error) {
    return failure(check, error);
  }
}

/** @throws TimedOut */
function inTime<Answer>(answer: PromiseLike<Answer>): Promise<Answer> {
  return within(timeoutMilliseconds, answer);
}
