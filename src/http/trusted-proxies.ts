import type { FastifyServerOptions } from 'fastify';
import type { Config } from '../config/config.ts';
import { contains } from '../config/networks.ts';

const privateNetworks = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1',
  'fc00::/7',
];

/**
 * Decides whose `X-Forwarded-*` headers Fastify trusts. A number of hops counts only if the peer is in a
 * private network; otherwise a client that reaches the port directly could forge the headers.
 */
export function trustProxy(
  trusted: Config['trustedProxies'],
): NonNullable<FastifyServerOptions['trustProxy']> {
  if (typeof trusted !== 'number') return trusted.length > 0 && [...trusted];
  return (address, hop) => hop < trusted && (hop > 0 || contains(privateNetworks, address));
}
