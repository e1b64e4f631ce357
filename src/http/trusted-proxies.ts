import { BlockList, isIPv6 } from 'node:net';
import type { FastifyServerOptions } from 'fastify';
import type { Config } from '../config/config.ts';

const privateNetworks = new BlockList();
privateNetworks.addSubnet('127.0.0.0', 8);
privateNetworks.addSubnet('10.0.0.0', 8);
privateNetworks.addSubnet('172.16.0.0', 12);
privateNetworks.addSubnet('192.168.0.0', 16);
privateNetworks.addAddress('::1', 'ipv6');
privateNetworks.addSubnet('fc00::', 7, 'ipv6');

/**
 * Decides whose `X-Forwarded-*` headers Fastify trusts. A number of hops counts only if the peer is in a
 * private network; otherwise a client that reaches the port directly could forge the headers.
 */
export function trustProxy(
  trusted: Config['trustedProxies'],
): NonNullable<FastifyServerOptions['trustProxy']> {
  if (typeof trusted !== 'number') return trusted.length > 0 && [...trusted];
  return (address, hop) => hop < trusted && (hop > 0 || isPrivate(address));
}

function isPrivate(address: string): boolean {
  return privateNetworks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
