import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

type Head = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'httpVersion'>;

/** The Authorization header; undefined where it is missing, and where there are several. */
export function authorizationOf({ headers, rawHeaders }: Head): string | undefined {
  return isRepeated(rawHeaders, 'authorization') ? undefined : headers.authorization;
}

/** Why a request must be refused for its Host header (RFC 9112 section 3.2), if it must. */
export function hostProblem({ headers, rawHeaders, httpVersion }: Head): string | undefined {
  const { host } = headers;
  if (host === undefined) {
    return httpVersion === '1.1' ? 'The Host header is missing.' : undefined;
  }
  if (isRepeated(rawHeaders, 'host')) return 'There must be only one Host header.';
  return host === latestHost || isHost(host)
    ? undefined
    : 'The Host header must be a host name or an IP address, optionally with a port.';
}

/** `headers` cannot tell: Node.js keeps only the first of several. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index] as string;
    if (each.length === name.length && each.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/**
 * By the grammar of RFC 3986 section 3.2.2, less the comma: in a Host header it is what a proxy leaves
 * when it joins several.
 */
const hostAndPort = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})+)(?::(\d*))?$|^$/i;

/** Nearly all requests name the same host. */
let latestHost = '';

/** An empty one is valid: it is what a client sends that has no name for the server. */
function isHost(host: string): boolean {
  const [matched, ipv6, port = ''] = hostAndPort.exec(host) ?? [];
  const isValid =
    matched !== undefined && (ipv6 === undefined || isIPv6(ipv6)) && Number(port) <= 65_535;
  if (isValid) latestHost = host;
  return isValid;
}
