import { isIP } from 'node:net';

/** What PostgreSQL's own programs take for `sslmode`. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Further parameters of theirs that would change how a connection is protected. */
const unsupported = /^(?:ssl(?!mode$|rootcert$)|requiressl$|channel_binding$|gssencmode$)/;

export interface TlsSettings {
  readonly mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';
  /** A file with certificates in PEM format; undefined means the authorities that Node.js trusts. */
  readonly rootFile: string | undefined;
}

/** @param address a PostgreSQL address of which `tlsProblemOf` has nothing to say */
export function tlsSettingsOf(address: string): TlsSettings {
  const { sslmode = 'disable', sslrootcert } = parametersOf(address);
  const rootFile = sslrootcert === 'system' ? undefined : sslrootcert;
  // Neither of the two checks anything, so TLS wherever the server offers it does for both.
  if (sslmode === 'allow') return { mode: 'prefer', rootFile };
  // As for PostgreSQL's own programs.
  if (sslmode === 'require' && rootFile !== undefined) return { mode: 'verify-ca', rootFile };
  return { mode: sslmode as TlsSettings['mode'], rootFile };
}

/** The same address without what only the client needs to know about TLS. */
export function withoutTls(address: string): string {
  const url = new URL(address);
  for (const name of ['sslmode', 'sslrootcert']) url.searchParams.delete(name);
  return url.href;
}

/** What is wrong with the parameters of a PostgreSQL address for TLS, as a sentence about it. */
export function tlsProblemOf(address: string): string | undefined {
  const parameters = parametersOf(address);
  const { sslmode = 'disable', sslrootcert } = parameters;
  const unknown = Object.keys(parameters).find((name) => unsupported.test(name));
  if (unknown !== undefined) {
    return `has the parameter ${unknown}, which is not supported; TLS is set by sslmode and sslrootcert.`;
  }
  if (!sslModes.includes(sslmode)) {
    return `has an unknown sslmode; it must be one of ${sslModes.join(', ')}.`;
  }
  if (sslrootcert !== undefined && !/^(?:require|verify-ca|verify-full)$/.test(sslmode)) {
    return 'has sslrootcert, which needs sslmode=verify-full, verify-ca or require.';
  }
  if (sslrootcert === 'system' && sslmode !== 'verify-full') {
    return 'has sslrootcert=system, which needs sslmode=verify-full.';
  }
  if (sslmode === 'verify-ca' && sslrootcert === undefined) {
    return 'has sslmode=verify-ca, which needs sslrootcert=FILE: without it, a certificate that any public authority signed for anybody would do. Or use sslmode=verify-full.';
  }
  const hosts = new URL(address).hostname.split(',');
  if (sslmode === 'verify-full' && hosts.length > 1 && hosts.some(isAddress)) {
    return 'has sslmode=verify-full with several hosts, which must then be names, not IP addresses.';
  }
  return undefined;
}

/** Whether two addresses lead to the same database of the same server, each as a user of its own. */
export function differOnlyInLogin(one: string, other: string): boolean {
  const [first, second] = [one, other].map((address) => {
    const { hostname, port, pathname, username } = new URL(address);
    const database = pathname.slice(1) || username;
    return { place: `${hostname}:${port || 5432}/${database}`, username };
  });
  return (
    first?.place === second?.place &&
    second?.username !== '' &&
    first?.username !== second?.username
  );
}

export interface Login {
  readonly user: string;
  /** Undefined where the server lets the user in without one. */
  readonly password: string | undefined;
}

export function loginOf(address: string): Login {
  const { username, password } = new URL(address);
  return {
    user: decodeURIComponent(username),
    password: password === '' ? undefined : decodeURIComponent(password),
  };
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0;
}

function parametersOf(address: string): Record<string, string> {
  return Object.fromEntries(new URL(address).searchParams);
}
