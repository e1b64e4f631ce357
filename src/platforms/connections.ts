import type { ConnectedShop } from './credentials/credentials.ts';
import type { ConnectContext, Connection, PlatformCode } from './platform.ts';

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
