import type { AddressInfo } from 'node:net';

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The service's own origins: that of its public URL and, while it listens on loopback only, every local
 * name.
 */
export function ownOrigins(
  baseUrl: string,
  { address, port }: Pick<AddressInfo, 'address' | 'port'>,
): ReadonlySet<string> {
  const isLoopback = address === '::1' || address.startsWith('127.');
  const local = isLoopback ? loopbackHosts.map((host) => `http://${host}:${port}`) : [];
  return new Set([baseUrl, ...local].map((url) => new URL(url).origin));
}
