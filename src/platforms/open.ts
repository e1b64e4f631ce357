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
} from './platform.ts';
import { platforms } from './registry.ts';

/** A platform with its code, and the shops that are connected to it. */
export interface OpenPlatform {
  readonly platform: Platform;
  readonly code: PlatformCode;
  readonly shops: ConnectedShops;
  readonly connections: Connections;
}

interface OpenParts {
  readonly config: PlatformsConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** Stops everything in progress; its reason is thrown. */
  readonly signal: AbortSignal;
}

export type PlatformsConfig = Pick<Config, 'platforms' | 'credentialsKeys' | 'baseUrl'>;

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
  const context = { app: appOf(settings), webhookAddress, clock, log, signal };
  const connections = new Connections(code, context);
  return { platform, code, shops, connections };
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

/** Keeps one connection per shop: it remembers the platform's rate limits, and the access token. */
export class Connections {
  readonly #code: PlatformCode;
  readonly #context: ConnectContext;
  readonly #known = new Map<
    number,
    { readonly version: string; readonly connection: Connection }
  >();

  constructor(code: PlatformCode, context: ConnectContext) {
    this.#code = code;
    this.#context = context;
  }

  get(shop: ConnectedShop): Connection {
    const known = this.#known.get(shop.shop);
    if (known?.version === shop.version) return known.connection;
    const connection = this.#code.connect(shop, this.#context);
    this.#known.set(shop.shop, { version: shop.version, connection });
    return connection;
  }
}
