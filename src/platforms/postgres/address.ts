import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { PlatformError } from '../errors.ts';

/** Where a shop's database is, and as whom to log in. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Whether the server's certificate must be valid for its name; otherwise it is only encrypted. */
  readonly verifies: boolean;
}

/** Completes "must be …". */
export const urlForm =
  'an address such as postgres://reader:password@db.example.com:5432/billing, with no parameter but sslmode=verify-full (the default) or sslmode=require';

const sslModes = new Set(['verify-full', 'require']);

/** @returns undefined if the text is not postgres://user:password@host:port/database, with sslmode at most */
export function parseTarget(text: unknown): Target | undefined {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol) || url.hash !== '') return undefined;
  const { sslmode = 'verify-full', ...others } = Object.fromEntries(url.searchParams);
  if (!sslModes.has(sslmode) || Object.keys(others).length > 0) return undefined;
  const [user = '', password = '', host = '', database = ''] = [
    url.username,
    url.password,
    url.hostname,
    url.pathname.slice(1),
  ].map(decoded);
  // A slash is the folder of a socket on this machine.
  if (user === '' || database === '' || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 5432),
    database,
    user,
    password,
    verifies: sslmode === 'verify-full',
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

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
 * Resolves the host of a source. The connection goes to this address, so that its name cannot change in between.
 * @param allowed internal networks in which sources may lie (SOURCE_NETWORKS)
 * @throws PlatformError if it lies in an internal network that is not allowed; does not tell which addresses exist
 */
export async function reach(host: string, allowed: readonly string[]): Promise<Reachable> {
  const found = await lookup(host, { all: true }).catch(() => []);
  const open = networks(allowed);
  const usable = found.find(
    ({ address }) => !contains(internal, address) || contains(open, address),
  );
  if (usable) return { address: usable.address, isLoopback: contains(loopback, usable.address) };
  throw new PlatformError(
    'refused',
    `${host} has no address that may be used. Sources must be reachable from the internet, unless the operator of this service lists their network in SOURCE_NETWORKS.`,
  );
}
