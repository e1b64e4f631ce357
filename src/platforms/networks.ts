import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { PlatformError } from './errors.ts';

const loopback = networks(['127.0.0.0/8', '::1/128']);

/** Networks that are not the internet; of IPv6 also those whose addresses may hold any IPv4 address. */
const internal = networks(
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
  ::/3 2001::/23 2001:db8::/32 2002::/16 4000::/2 8000::/1`.split(/\s+/),
);

function networks(list: readonly string[]): BlockList {
  const all = new BlockList();
  for (const each of list) {
    const [address = '', bits] = each.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    all.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return all;
}

const contains = (list: BlockList, address: string) =>
  list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

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
  const open = allowed && networks(allowed);
  const usable = found.find(
    ({ address }) => !open || !contains(internal, address) || contains(open, address),
  );
  if (usable) return { address: usable.address, isLoopback: contains(loopback, usable.address) };
  throw new PlatformError(
    'refused',
    `${host} has no address that may be used. It must be reachable from the internet, unless the operator of this service lists its network in SOURCE_NETWORKS.`,
  );
}
