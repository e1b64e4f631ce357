import type { AddressInfo } from 'node:net';

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The origins that are the service's own: that of its public address and, while only this machine
 * reaches it, every name that this machine has for itself.
 * @param listening where the server listens
 */
export function ownOrigins(
  baseUrl: string,
  { address, port }: Pick<AddressInfo, 'address' | 'port'>,
): ReadonlySet<string> {
  const isLoopback = address === '::1' || address.startsWith('127.');
  const local = isLoopback ? loopbackHosts.map((host) => `http://${host}:${port}`) : [];
  return new Set([baseUrl, ...local].map((url) => new URL(url).origin));
}
