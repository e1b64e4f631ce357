import { hash } from 'node:crypto';
import type { PlatformConfig } from '../../config/platform-config.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import {
  type StoredConnection,
  findConnectedShop,
  findConnection,
  listConnections,
} from '../../store/feeds/platforms.ts';
import type { Platform, ConnectedShop, Credentials } from '../platform.ts';
import { CredentialsFile, credentialsInFile } from './file.ts';
import type { Sealing } from './sealing.ts';
import { storedCredentials } from './stored.ts';

interface ConnectedShopsParts {
  readonly platform: Platform;
  readonly config: PlatformConfig | undefined;
  readonly sealing: Sealing;
  readonly log: Log;
}

/**
 * All shops that are connected to a platform: those in its credentials file, which take precedence, and those that
 * were connected in the database.
 */
export class ConnectedShops {
  readonly #parts: ConnectedShopsParts;
  readonly #file: CredentialsFile | undefined;
  /** The shops of the file, and the entries that they were made from. */
  #inFile: {
    readonly entries?: readonly Credentials[];
    readonly shops: readonly ConnectedShop[];
  } = { shops: [] };

  private constructor(parts: ConnectedShopsParts, file: CredentialsFile | undefined) {
    this.#parts = parts;
    this.#file = file;
  }

  /** @throws UsageError if the credentials file is not usable */
  static async open(parts: ConnectedShopsParts): Promise<ConnectedShops> {
    const { platform, config, log } = parts;
    const path = config?.credentialsFile;
    const file = path === undefined ? undefined : await CredentialsFile.open(platform, path, log);
    return new ConnectedShops(parts, file);
  }

  /** Those that their owners have started. */
  async list(sql: Sql): Promise<readonly ConnectedShop[]> {
    return (await this.listAll(sql)).filter(({ draft = null }) => draft === null);
  }

  /** In the order of the file, then by shop. */
  async listAll(sql: Sql): Promise<readonly ConnectedShop[]> {
    const inFile = await this.#listInFile();
    const shopsInFile = new Set(inFile.map(({ shop }) => shop));
    const stored = await listConnections(sql, this.#parts.platform.name);
    return [
      ...inFile,
      ...stored
        .filter(({ shopId }) => !shopsInFile.has(shopId))
        .map((each) => this.#stored(sql, each)),
    ];
  }

  async find(sql: Sql, shopId: number): Promise<ConnectedShop | undefined> {
    const inFile = (await this.#listInFile()).find(({ shop }) => shop === shopId);
    if (inFile) return inFile;
    const stored = await findConnection(sql, shopId, this.#parts.platform.name);
    return stored && this.#stored(sql, stored);
  }

  /** The shop that shares this account with no other, unless it is a draft. Does not list all shops. */
  async findByAccount(sql: Sql, account: string): Promise<number | undefined> {
    const inFile = await this.#listInFile();
    const found = inFile.find((each) => each.account === account);
    if (found) return found.shop;
    const shopId = await findConnectedShop(sql, account, this.#parts.platform.name);
    return inFile.some(({ shop }) => shop === shopId) ? undefined : shopId;
  }

  async #listInFile(): Promise<readonly ConnectedShop[]> {
    const file = this.#file;
    if (!file) return [];
    const entries = await file.entries();
    if (entries !== this.#inFile.entries) {
      this.#inFile = { entries, shops: this.#shopsOf(file, entries) };
    }
    return this.#inFile.shops;
  }

  #shopsOf(file: CredentialsFile, entries: readonly Credentials[]): readonly ConnectedShop[] {
    return entries.map((entry) => ({
      shop: entry.shop,
      account: this.#parts.platform.accountOf(entry),
      baseUrl:
        typeof entry['baseUrl'] === 'string' ? entry['baseUrl'] : this.#parts.config?.baseUrl,
      origin: 'file',
      version: hash('sha256', JSON.stringify(entry)),
      credentials: credentialsInFile(file, entry.shop),
    }));
  }

  #stored(sql: Sql, { shopId, account, connectedAt, draft }: StoredConnection): ConnectedShop {
    const { platform, sealing, config } = this.#parts;
    return {
      shop: shopId,
      account,
      baseUrl: config?.baseUrl,
      connectedAt,
      draft,
      origin: 'database',
      version: `${account} ${connectedAt.toISOString()}`,
      credentials: storedCredentials({ sql, platform: platform.name, sealing }, shopId),
    };
  }
}
