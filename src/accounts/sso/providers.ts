import { resolveTxt } from 'node:dns/promises';
import type { Clock } from '../../clock.ts';
import type { SsoConfig } from '../../config/settings.ts';
import { Sealing } from '../../platforms/credentials/sealing.ts';
import type { Sql } from '../../store/database.ts';
import { installation } from '../../store/owners/audit.ts';
import {
  type SsoProvider,
  findSsoProvider,
  findSsoProviderByDomain,
  listSsoProviders,
  updateSsoSecret,
} from '../../store/owners/sso.ts';
import { within } from '../../time-limit.ts';
import { type IssuerClient, Issuers } from './issuer.ts';

/** Who signs people in: the installation's issuer, or one of a shop. docs/decisions/0023-signing-in.md */
export interface Provider extends IssuerClient {
  /** `installation`, or the shop. */
  readonly id: number;
  /** What people know it as. */
  readonly name: string;
  /** Of a shop: whose addresses it vouches for, and which roles it gives. */
  readonly shop: SsoProvider | undefined;
}

export interface SsoSettings {
  /** Of the installation. */
  readonly sso?: SsoConfig | undefined;
  readonly localPasswords?: boolean | undefined;
  readonly credentialsKeys?: readonly Buffer[] | undefined;
  readonly sourceNetworks?: readonly string[] | undefined;
  /** Replaced by tests only. */
  readonly resolveTxt?: ((name: string) => Promise<readonly (readonly string[])[]>) | undefined;
}

const lookupMilliseconds = 5_000;
/** How long a record is known to be there once it was found. */
const verifiedMilliseconds = 3_600_000;

/** Where a domain's DNS says that it belongs to a shop, and what it says. */
export function recordOf({ domain, verification }: Pick<SsoProvider, 'domain' | 'verification'>) {
  return { name: `_retention.${domain}`, text: `retention-verification=${verification}` };
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

export const contextOf = (shopId: number) => `single sign-on of shop ${shopId}`;

/** Encrypts secrets that were encrypted with an older key. */
export async function resealProviders(sql: Sql, sealing: Sealing): Promise<void> {
  for (const provider of await listSsoProviders(sql)) {
    const sealed = sealing.reseal(provider.clientSecret, contextOf(provider.shopId));
    if (sealed !== provider.clientSecret) await updateSsoSecret(sql, provider, sealed);
  }
}

/** The issuers that sign people in. */
export class Providers {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #settings: SsoSettings;
  readonly #verified = new Map<string, number>();
  readonly sealing: Sealing;
  readonly issuers: Issuers;

  constructor(sql: Sql, clock: Clock, settings: SsoSettings) {
    this.#sql = sql;
    this.#clock = clock;
    this.#settings = settings;
    this.sealing = new Sealing(settings.credentialsKeys ?? []);
    this.issuers = new Issuers(clock);
  }

  /** Whether there is a key that encrypts the secrets of shops' issuers. */
  get canStore(): boolean {
    return (this.#settings.credentialsKeys ?? []).length > 0;
  }

  get ofInstallation(): Provider | undefined {
    const { sso } = this.#settings;
    return sso && { ...sso, id: installation, networks: undefined, shop: undefined };
  }

  /** Whether passwords and passkeys are off. */
  get isOnlyWay(): boolean {
    const { sso, localPasswords = true } = this.#settings;
    return sso !== undefined && !localPasswords;
  }

  /** One that can sign people in. */
  async find(id: number): Promise<Provider | undefined> {
    if (id === installation) return this.ofInstallation;
    const stored = await findSsoProvider(this.#sql, id);
    return stored?.verifiedAt ? this.of(stored) : undefined;
  }

  /** The one that signs in the person with an address: that of its domain, or else the installation's. */
  async findFor(email: string): Promise<Provider | undefined> {
    const stored = await findSsoProviderByDomain(this.#sql, domainOf(email));
    return stored ? this.of(stored) : this.ofInstallation;
  }

  /** The one that replaces the password of the person with an address. */
  async findReplacing(email: string): Promise<Provider | undefined> {
    const provider = await this.findFor(email);
    const { localPasswords = true } = this.#settings;
    return localPasswords && !provider?.shop?.replacesPasswords ? undefined : provider;
  }

  of(shop: SsoProvider): Provider {
    const { issuer, clientId, shopId } = shop;
    const { sealing } = this;
    return {
      id: shopId,
      name: new URL(issuer).host,
      issuer,
      clientId,
      // Opened when it is needed: without its key, passwords can still be checked.
      get clientSecret() {
        return sealing.open(shop.clientSecret, contextOf(shopId));
      },
      networks: this.#settings.sourceNetworks ?? [],
      shop,
    };
  }

  /** Whether the domain's DNS has the record now, or had it within the last hour. */
  async isVerified(provider: Pick<SsoProvider, 'domain' | 'verification'>): Promise<boolean> {
    const { name, text } = recordOf(provider);
    const now = this.#clock.now();
    if ((this.#verified.get(text) ?? 0) > now) return true;
    const looked = (this.#settings.resolveTxt ?? resolveTxt)(name);
    const records = await within(lookupMilliseconds, looked).catch(() => []);
    const isThere = records.some((parts) => parts.join('') === text);
    // Tokens that are not in the database are never looked up, so that there are as many as shops.
    if (isThere) this.#verified.set(text, now + verifiedMilliseconds);
    return isThere;
  }
}
