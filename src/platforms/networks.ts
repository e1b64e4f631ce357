import { lookup } from 'node:dns/promises';
import { contains } from '../config/networks.ts';
import { PlatformError } from './errors.ts';

const loopback = ['127.0.0.0/8', '::1/128'];

/** Networks that are not the internet; of IPv6 also those whose addresses may hold any IPv4 address. */
const internal =
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
  ::/3 2001::/23 2001:db8::/32 2002::/16 4000::/2 8000::/1`.split(/\s+/);

export interface Reachable {
  readonly address: string;
  /** Whether it is this machine, so that TLS is not needed. */
  readonly isLoopback: boolean;
}

/**
 * Resolves the host of a source or an issuer. The connection goes to this address, so that its name cannot change in
 * between.
 * @param allowed internal networks in which it may lie (SOURCE_NETWORKS); undefined allows all
 * @throws PlatformError if it lies in an internal network that is not allowed; does not tell which addresses exist
 */
export async function reach(
  host: string,
  allowed: readonly string[] | undefined,
): Promise<Reachable> {
  const found = await lookup(host, { all: true }).catch(() => []);
  const usable = found.find(
    ({ address }) => !allowed || !contains(internal, address) || contains(allowed, address),
  );
  if (usable) return { address: usable.address, isLoopback: contains(loopback, usable.address) };
  throw new PlatformError(
    'refused',
    `${host} has no address that may be used. Addresses on the internet may, and those in networks that the operator of this service lists in SOURCE_NETWORKS.`,
  );
}
