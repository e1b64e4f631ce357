import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

type Head = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'httpVersion'>;

/** The Authorization header; undefined if it is missing or repeated. */
export function authorizationOf({ headers, rawHeaders }: Head): string | undefined {
  return isRepeated(rawHeaders, 'authorization') ? undefined : headers.authorization;
}

/** What is wrong with the Host header (RFC 9112 section 3.2), if anything. */
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

/** Looks at the raw headers, because Node.js keeps only the first of a repeated header in `headers`. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index] as string;
    if (each.length === name.length && each.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/**
 * The grammar of RFC 3986 section 3.2.2 without the comma, which would mean that a proxy joined several
 * Host headers.
 */
const hostAndPort = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})+)(?::(\d*))?$|^$/i;

/** Caches the last valid host, because nearly all requests name the same one. */
let latestHost = '';

/** An empty host is valid: clients send it if they have no name for the server. */
function isHost(host: string): boolean {
  const [matched, ipv6, port = ''] = hostAndPort.exec(host) ?? [];
  const isValid =
    matched !== undefined && (ipv6 === undefined || isIPv6(ipv6)) && Number(port) <= 65_535;
  if (isValid) latestHost = host;
  return isValid;
}

/** Turns a request target into a path and query that the router accepts. */
export function readableTarget(target: string): string {
  return withReadablePath(originForm(target));
}

/** The decoded path of a target from `readableTarget`. */
export function pathOf(target: string): string {
  return decodeURI(target.split('?', 1)[0] as string);
}

/** Removes scheme and authority from a target in absolute form (RFC 9112 section 3.2.2). */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Escapes a path with invalid percent-encoding, so that it is taken literally and matches nothing. */
function withReadablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
