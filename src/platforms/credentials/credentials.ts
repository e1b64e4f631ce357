/** How the service signs in to a platform for one shop. The platform defines the other fields. */
export interface Credentials {
  /** The shop's id here. */
  readonly shop: number;
  readonly [field: string]: unknown;
}

/** Where a shop's credentials are kept. They may change while they are in use. */
export interface CredentialSource {
  /**
   * Reads them as they are now.
   * @throws CommandError if they are gone, or cannot be read
   */
  read(): Promise<Credentials>;
  /**
   * Replaces credentials that are about to end. Of all processes only one asks the platform at a time; the others
   * wait, and get what it was given. What the platform gave is stored before anything can use it.
   * @param stale the credentials to replace; if they were replaced in the meantime, nothing is asked
   * @param ask asks the platform; it may be asked again by another process if this one dies
   * @throws CommandError if what the platform gives cannot be stored here
   */
  renew(
    stale: Credentials,
    ask: (stale: Credentials) => Promise<Credentials>,
  ): Promise<Credentials>;
}

/** A shop that is connected to a platform. */
export interface ConnectedShop {
  readonly shop: number;
  /** The shop's name at the platform. */
  readonly account: string;
  /** Replaces the platform's address; undefined for the platform itself. */
  readonly baseUrl: string | undefined;
  /** When; unknown if the operator did, in the credentials file. */
  readonly connectedAt?: Date;
  /** Who connected it: the operator, in the credentials file, or the shop, in the database. */
  readonly origin: 'file' | 'database';
  /** Changes when the shop is connected anew, or its entry in the file changes, but not when credentials are renewed. */
  readonly version: string;
  readonly credentials: CredentialSource;
}
