import type { Config } from '../config/config.ts';
import { redact } from '../log/log.ts';
import { platforms } from '../platforms/registry.ts';
import {
  type Node,
  inspectCluster,
  listMissingSettings,
  listSilentNodes,
  namesWorker,
} from '../store/cluster/cluster.ts';
import type { Sql } from '../store/database.ts';
import { readCredentials } from '../platforms/credentials/file.ts';
import { listUnreadable } from '../platforms/credentials/stored.ts';
import { Sealing } from '../platforms/credentials/sealing.ts';
import type { Platform } from '../platforms/platform.ts';
import { listConnections } from '../store/feeds/platforms.ts';
import { appSealing, contextOfApp } from '../accounts/factors/codes.ts';
import { contextOf as contextOfIssuer } from '../accounts/sso/providers.ts';
import { systemClock } from '../clock.ts';
import { examineSources, secretSealing } from '../push/sources.ts';
import { listApps } from '../store/owners/factors.ts';
import { listSsoProviders } from '../store/owners/sso.ts';
import { listLivePushSources } from '../store/push/sources.ts';

/** What `doctor` found out. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** Nothing is broken, but the operator should know. */
  readonly warning?: true;
  readonly detail: string;
}

export function failure(check: string, error: unknown): Finding {
  const detail = redact(error instanceof Error ? error.message : String(error));
  return { check, ok: false, detail };
}

interface Warning {
  readonly check: string;
  readonly detail: string;
}

/** Settings that work, but probably not as intended. */
export function listWarnings(config: Config): Warning[] {
  const { databaseUrl, redisUrl, baseUrl, trustedProxies } = config;
  const warnings: Warning[] = [];
  if (databaseUrl !== undefined && redisUrl === undefined) {
    warnings.push({
      check: 'limits',
      detail:
        'Each instance counts requests separately, so with several, a key gets its full limit on each. Set REDIS_URL to share one count.',
    });
  }
  // A number, even 0, is a deliberate choice.
  const namesNoProxy = typeof trustedProxies !== 'number' && trustedProxies.length === 0;
  if (baseUrl?.startsWith('https:') && namesNoProxy) {
    warnings.push({
      check: 'proxies',
      detail:
        'BASE_URL is https, so there is a proxy in front, and all clients count as one address. Set TRUSTED_PROXIES to tell them apart.',
    });
  }
  const registered = platforms.find(({ name }) => config.platforms[name]?.clientId !== undefined);
  if (registered && !baseUrl?.startsWith('https:')) {
    const { settings, title } = registered;
    warnings.push({
      check: 'public address',
      detail: `${settings.clientId} is set, but BASE_URL is not an https address: ${title} sends owners who connect their shop back to it, and webhooks only to https. Set BASE_URL to the public address.`,
    });
  }
  return warnings;
}

/** Whether a Citus cluster has everything everywhere; nothing if the database is not on one. */
export async function examineCluster(sql: Sql): Promise<Finding[]> {
  const cluster = await inspectCluster(sql);
  if (!cluster) return [];
  const { version, isCoordinator, isDistributed, nodes } = cluster;
  if (!isCoordinator) return [{ check: 'cluster', ok: false, detail: namesWorker }];
  if (!isDistributed) {
    const detail = `Citus ${version}, but nothing is distributed; run "retention distribute"`;
    return [{ check: 'cluster', ok: true, warning: true, detail }];
  }
  const { missingTables, copiedTables, missingFunctions } = cluster;
  const misplaced = [...missingTables, ...copiedTables, ...missingFunctions];
  return [
    {
      check: 'cluster',
      ok: misplaced.length === 0,
      detail:
        misplaced.length === 0
          ? `Citus ${version}, everything is distributed`
          : `not distributed: ${misplaced.join(', ')}; run "retention distribute"`,
    },
    ...(await examineNodes(sql, nodes)),
  ];
}

async function examineNodes(sql: Sql, nodes: readonly Node[]): Promise<Finding[]> {
  const missing = await listMissingSettings(sql);
  const silent = await listSilentNodes(sql, missing);
  return nodes.map(({ name, isCoordinator, isActive, takesShards, shards }) => {
    const settings = missing.get(name);
    const what = `${isCoordinator ? 'coordinator' : 'worker'}, ${shards} shards`;
    const check = `node ${name}`;
    if (!isActive) return { check, ok: false, detail: `${what}, but it is not active` };
    if (!settings) {
      const shops = silent.find((each) => each.name === name)?.shops;
      const detail = `${what}, but it does not answer: ${shops} shops are refused until it is back or replaced`;
      return { check, ok: false, detail };
    }
    if (settings.length > 0) {
      const detail = `${what}, but it lacks ${settings.join(', ')}; run "retention distribute"`;
      return { check, ok: false, detail };
    }
    const isEmpty = takesShards && shards === 0;
    return isEmpty
      ? { check, ok: true, warning: true, detail: `${what}: no shop is there yet; rebalance` }
      : { check, ok: true, detail: what };
  });
}

/** A platform's settings, named after their variables in camel case. */
export function shownSettings(
  { name, settings }: Platform,
  config: Config,
): Record<string, unknown> {
  const { credentialsFile, webhookSecrets = [], clientId, baseUrl } = config.platforms[name] ?? {};
  const values = [
    [settings.credentialsFile, credentialsFile],
    [settings.webhookSecrets?.variable, webhookSecrets.map(() => 'redacted')],
    [settings.clientId, clientId],
    [settings.baseUrl, baseUrl],
  ] as const;
  return Object.fromEntries(
    values.flatMap(([variable, value]) =>
      variable === undefined ? [] : [[camelCase(variable), value]],
    ),
  );
}

function camelCase(variable: string): string {
  return variable.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Checks only the file. Whether the platform accepts the credentials shows during a sync. */
export async function examineCredentials(platform: Platform, config: Config): Promise<Finding[]> {
  const file = config.platforms[platform.name]?.credentialsFile;
  if (file === undefined) return [];
  const check = `${platform.name} credentials`;
  try {
    const shops = await readCredentials(platform, file);
    return [{ check, ok: true, detail: shops.map(({ shop }) => `shop ${shop}`).join(', ') }];
  } catch (error) {
    return [failure(check, error)];
  }
}

/** How many shops are connected to each platform, and whether the stored credentials can be decrypted. */
export async function examineConnections(config: Config, sql: Sql): Promise<Finding[]> {
  const findings = platforms.map(async (platform): Promise<Finding[]> => {
    const { name, title, settings } = platform;
    const file = config.platforms[name]?.credentialsFile;
    // Whether the file is usable is another check.
    const entries = file === undefined ? [] : await readCredentials(platform, file).catch(() => []);
    const inFile = new Set(entries.map(({ shop }) => shop));
    const stored = (await listConnections(sql, name)).filter(({ shopId }) => !inFile.has(shopId));
    if (inFile.size + stored.length === 0) return [];
    const { credentialsFile } = settings;
    const ofFile = credentialsFile === undefined ? '' : `${inFile.size} in ${credentialsFile}, `;
    const detail = `${ofFile}${stored.length} in the database`;
    const connected: Finding = { check: `shops connected to ${title}`, ok: true, detail };
    if (stored.length === 0) return [connected];
    const sealing = new Sealing(config.credentialsKeys);
    const unreadable = listUnreadable({ platform: name, sealing }, stored);
    return [connected, readability(platform, unreadable, config.credentialsKeys.length > 0)];
  });
  return (await Promise.all(findings)).flat();
}

/** @param unreadable the shops whose credentials cannot be decrypted */
function readability(
  { name, title }: Platform,
  unreadable: readonly number[],
  hasKey: boolean,
): Finding {
  const check = `stored ${name} credentials`;
  if (unreadable.length === 0) return { check, ok: true, detail: 'can be decrypted' };
  const whose = `of ${ofShops(unreadable)}`;
  const detail = hasKey
    ? `those ${whose} cannot be decrypted. ${addKey}, or connect to ${title} again.`
    : `CREDENTIALS_KEY is not set, so those ${whose} cannot be decrypted. Set it, or connect to ${title} by the credentials file.`;
  return { check, ok: false, detail };
}

/** How many sources may push records, and whether their secrets can be decrypted, and are encrypted at all. */
export async function examinePushSources(config: Config, sql: Sql): Promise<Finding[]> {
  const sources = await listLivePushSources(sql);
  if (sources.length === 0) return [];
  const check = 'push sources';
  const hasKey = config.credentialsKeys.length > 0;
  const sealing = secretSealing(config.credentialsKeys);
  const { unreadable, plain } = examineSources(sources, sealing, systemClock.now());
  const names = unreadable.map(({ sourceId, shopId }) => `${sourceId} of shop ${shopId}`);
  const unreadableDetail = !hasKey
    ? `CREDENTIALS_KEY is not set, so requests of ${names.join(', ')} are answered 503. Set the key that their secrets were encrypted with.`
    : `secrets of ${names.join(', ')} cannot be decrypted, so their requests are answered 503. ${addKey}, or rotate them.`;
  return [
    unreadable.length === 0
      ? { check, ok: true, detail: `${sources.length} in use` }
      : { check, ok: false, detail: unreadableDetail },
    ...(plain.length === 0
      ? []
      : [
          {
            check,
            ok: true,
            warning: true,
            detail: `signing secrets are stored unencrypted (${plain.length} of ${sources.length} sources); ${encryptPlain(config)}`,
          } as const,
        ]),
  ];
}

export const appsCheck = 'authenticator apps';

/** Whether the secrets of owners' authenticator apps can be decrypted, and are encrypted at all. */
export async function examineApps(config: Config, sql: Sql): Promise<Finding[]> {
  const apps = await listApps(sql);
  if (apps.length === 0) return [];
  const check = appsCheck;
  const sealing = appSealing(config.credentialsKeys);
  const unreadable = apps.filter((app) => !sealing.canOpen(app.key, contextOfApp(app))).length;
  const plain = apps.filter(({ key }) => sealing.isPlain(key)).length;
  if (unreadable > 0) {
    const detail = `secrets of ${unreadable} of ${apps.length} cannot be decrypted, so their codes are refused. ${addKey}.`;
    return [{ check, ok: false, detail }];
  }
  if (plain > 0) {
    const detail = `secrets are stored unencrypted (${plain} of ${apps.length}); ${encryptPlain(config)}`;
    return [{ check, ok: true, warning: true, detail }];
  }
  return [{ check, ok: true, detail: `${apps.length} in use` }];
}

export const issuersCheck = 'single sign-on';

/** Whether the client secrets of shops' issuers can be decrypted. */
export async function examineIssuers(config: Config, sql: Sql): Promise<Finding[]> {
  const issuers = await listSsoProviders(sql);
  if (issuers.length === 0) return [];
  const sealing = new Sealing(config.credentialsKeys);
  const unreadable = issuers
    .filter(({ shopId, clientSecret }) => !sealing.canOpen(clientSecret, contextOfIssuer(shopId)))
    .map(({ shopId }) => shopId);
  const check = issuersCheck;
  if (unreadable.length === 0) return [{ check, ok: true, detail: `${issuers.length} in use` }];
  const detail = `secrets of ${ofShops(unreadable)} cannot be decrypted, so people cannot sign in with their issuers. ${addKey}, or enter the secrets again.`;
  return [{ check, ok: false, detail }];
}

const ofShops = (shopIds: readonly number[]) =>
  `${shopIds.length === 1 ? 'shop' : 'shops'} ${new Intl.ListFormat('en-GB').format(shopIds.map(String))}`;

/** What makes secrets readable that an older key encrypted. */
const addKey =
  'Add the key that they were encrypted with to CREDENTIALS_KEY, after the new one and a comma';

/** What encrypts secrets that are plain. */
const encryptPlain = ({ credentialsKeys }: Config) =>
  `${credentialsKeys.length > 0 ? '' : 'set CREDENTIALS_KEY to the output of "openssl rand -base64 32" and '}restart "serve", which encrypts them.`;
