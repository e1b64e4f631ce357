import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { PlatformConfig } from '../config/platform-config.ts';
import type { Log } from '../log/log.ts';
import { ConnectedShops } from './credentials/connected-shops.ts';
import { readCredentials } from './credentials/file.ts';
import { Sealing } from './credentials/sealing.ts';
import type {
  Platform,
  PlatformApp,
  PlatformCode,
  ConnectedShop,
  ConnectContext,
  Connection,
  CredentialSource,
} from './platform.ts';
import { platforms } from './registry.ts';

/** A platform with its code, and the shops that are connected to it. */
export interface OpenPlatform {
  readonly platform: Platform;
  readonly code: PlatformCode;
  readonly shops: ConnectedShops;
  connectionTo(shop: ConnectedShop): Connection;
}

interface OpenParts {
  readonly config: PlatformsConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** Stops everything in progress; its reason is thrown. */
  readonly signal: AbortSignal;
}

export type PlatformsConfig = Pick<Config, 'platforms' | 'credentialsKeys' | 'baseUrl'> &
  Partial<Pick<Config, 'sourceNetworks'>>;

/** @throws UsageError if the platform's credentials file is not usable */
export async function openPlatform(
  platform: Platform,
  { config, clock, log, signal }: OpenParts,
): Promise<OpenPlatform> {
  const settings = config.platforms[platform.name];
  const sealing = new Sealing(config.credentialsKeys);
  const [shops, code] = await Promise.all([
    ConnectedShops.open({ platform, config: settings, sealing, log }),
    platform.load(),
  ]);
  const webhookAddress = webhookAddressOf(config, platform.name);
  const pointsShare = settings?.pointsShare;
  const { sourceNetworks } = config;
  const app = appOf(settings);
  const context = { app, webhookAddress, sourceNetworks, pointsShare, clock, log, signal };
  return { platform, code, shops, connectionTo: createConnections(code, context) };
}

/** The service as the platform's app; undefined unless it has both an id and a secret. */
export function appOf(config: PlatformConfig | undefined): PlatformApp | undefined {
  const [clientSecret] = config?.webhookSecrets ?? [];
  const clientId = config?.clientId;
  return clientId === undefined || clientSecret === undefined
    ? undefined
    : { clientId, clientSecret };
}

/** Where the platform can send webhooks; undefined if they are not received, or not over TLS. */
function webhookAddressOf({ baseUrl, platforms: configs }: PlatformsConfig, name: string) {
  const receives = (configs[name]?.webhookSecrets.length ?? 0) > 0;
  return receives && baseUrl?.startsWith('https:') ? `${baseUrl}/webhooks/${name}` : undefined;
}

/**
 * Reads the credentials files, for a process that will use them later.
 * @throws UsageError if one is not usable
 */
export async function checkCredentialsFiles({
  platforms: configs,
}: PlatformsConfig): Promise<void> {
  for (const platform of platforms) {
    const file = configs[platform.name]?.credentialsFile;
    if (file !== undefined) await readCredentials(platform, file);
  }
}

/** Whether any shop can be connected to a platform. */
export function mayHaveShops({ platforms: configs, credentialsKeys }: PlatformsConfig): boolean {
  return (
    credentialsKeys.length > 0 ||
    Object.values(configs).some(({ credentialsFile }) => credentialsFile !== undefined)
  );
}

/**
 * Keeps one connection per shop: it remembers the platform's rate limits, and the access token. It reads the credentials
 * of the shop as it was listed last, since the store that an earlier list is from may be closed.
 */
export function createConnections(
  code: PlatformCode,
  context: ConnectContext,
): OpenPlatform['connectionTo'] {
  const known = new Map<number, { readonly listed: Listed; readonly connection: Connection }>();
  return (shop) => {
    const found = known.get(shop.shop);
    if (found?.listed.last.version === shop.version) {
      found.listed.last = shop;
      return found.connection;
    }
    const listed: Listed = { last: shop };
    const credentials: CredentialSource = {
      read: () => listed.last.credentials.read(),
      renew: (...given) => listed.last.credentials.renew(...given),
    };
    const connection = code.connect({ ...shop, credentials }, context);
    known.set(shop.shop, { listed, connection });
    return connection;
  };
}

interface Listed {
  last: ConnectedShop;
}
