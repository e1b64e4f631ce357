import { isIP, isIPv6 } from 'node:net';

/** The address itself, an IPv4 one in its own form. @param ip as for `clientNetwork` */
export function clientAddress(ip: string | undefined): string {
  return (ip ?? '')
    .replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2')
    .replace(/^::ffff:(?=\d+\.)/i, '');
}

/**
 * Identifies a client by network: the IPv4 address, or the /64 of an IPv6 address, which is what a provider
 * assigns to one customer. All invalid addresses count as one client.
 * @param ip from a socket or proxy; some proxies include the port
 */
export function clientNetwork(ip: string | undefined): string {
  const address = clientAddress(ip);
  if (isIPv6(address)) return networkOf(address);
  return isIP(address) === 4 ? address : 'unknown';
}

/**
 * The part of it that is recorded: the /24 of an IPv4 address, or the /48 of an IPv6 address; null if it is unknown.
 * @param client as `clientNetwork` returns it
 */
export function auditNetwork(client: string): string | null {
  if (isIP(client) === 4) return `${client.split('.').slice(0, 3).join('.')}.0/24`;
  return client === 'unknown' ? null : `${client.split(':').slice(0, 3).join(':')}::/48`;
}

/** The first 64 bits. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
