import { userInfo } from 'node:os';

/** One server of an address. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** What postgres://user:password@host:port,host:port/database?… says. */
export interface Address {
  /** Of several, only one that takes writes is used. */
  readonly places: readonly Place[];
  readonly user: string;
  /** Empty where the server lets the user in without one. */
  readonly password: string;
  readonly database: string;
  readonly tls: TlsSettings;
  /** Settings of the server, from further parameters. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Read by the client; all other parameters are the server's. */
const ownParameters = new Set(['sslmode', 'sslrootcert', 'target_session_attrs']);

/** @returns undefined for what is no address of PostgreSQL */
export function parseAddress(text: string): Address | undefined {
  const split = splitHosts(text);
  const places = split?.hosts.map(parsePlace);
  if (!split || !places?.every((place) => place !== undefined)) return undefined;
  const { url } = split;
  if (!/^postgres(?:ql)?:$/.test(url.protocol)) return undefined;
  // Two addresses with a comma between, or what a password with an unquoted # has left.
  if (url.hash !== '' || split.after.includes('://')) return undefined;
  const [name, password, path] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (name === undefined || password === undefined || path === undefined) return undefined;
  const user = name || userInfo().username;
  const parameters = Object.fromEntries(url.searchParams);
  return {
    places,
    user,
    password,
    database: path || user,
    tls: tlsSettingsOf(parameters),
    settings: Object.fromEntries(
      Object.entries(parameters).filter(([each]) => !ownParameters.has(each)),
    ),
  };
}

/** @param text an address that the configuration has let through */
export function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (!address) throw new TypeError('This is not an address of PostgreSQL.');
  return address;
}

/** The servers of an address, as people know them: `host:port`, never with its password. */
export function nameOf(text: string): string {
  return addressOf(text)
    .places.map(({ host, port }) => `${bracketed(host)}:${port}`)
    .join();
}

/** Each host of an address with all the rest of it. */
export function splitByHost(text: string): string[] {
  const { before = '', hosts = [], after = '' } = splitHosts(text) ?? {};
  return hosts.map((host) => before + host + after);
}

/** The same address, of whatever kind, with nothing in it that is secret. */
export function withoutPassword(text: string): string {
  const { before = '', hosts = [], after = '' } = splitHosts(text) ?? {};
  const url = new URL(`${before}host${after}`);
  if (url.password !== '') url.password = 'redacted';
  for (const name of url.searchParams.keys()) {
    if (/password/i.test(name)) url.searchParams.set(name, 'redacted');
  }
  return url.href.replace(/(?<=@|\/\/)host(?=[/?#]|$)/, hosts.join());
}

/** As `URL` knows only one host, with one port, the list of them is taken out first. */
function splitHosts(text: string) {
  const [, before, hosts, after] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]+)(.*)$/.exec(text) ?? [];
  const url = before === undefined ? null : URL.parse(`${before}host${after}`);
  if (before === undefined || hosts === undefined || after === undefined || !url) return undefined;
  return { before, hosts: hosts.split(','), after, url };
}

/** @returns undefined where a % is followed by anything but the number of a character */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parsePlace(text: string): Place | undefined {
  // What any URL may have there.
  const url = URL.parse(`postgres://${text}`);
  if (!url || url.hostname === '' || url.host === '' || url.username !== '') return undefined;
  return {
    host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ''),
    port: Number(url.port || 5432),
  };
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** What PostgreSQL's own programs take for `sslmode`. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Further parameters of theirs that would change how a connection is protected. */
const unsupported = /^(?:ssl(?!mode$|rootcert$)|requiressl$|channel_binding$|gssencmode$)/;

export interface TlsSettings {
  readonly mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';
  /** A file with certificates in PEM format; undefined means the authorities that Node.js trusts. */
  readonly rootFile: string | undefined;
}

function tlsSettingsOf({
  sslmode = 'disable',
  sslrootcert,
}: Readonly<Record<string, string>>): TlsSettings {
  const rootFile = sslrootcert === 'system' ? undefined : sslrootcert;
  // Neither of the two checks anything, so TLS wherever the server offers it does for both.
  if (sslmode === 'allow') return { mode: 'prefer', rootFile };
  // As for PostgreSQL's own programs.
  if (sslmode === 'require' && rootFile !== undefined) return { mode: 'verify-ca', rootFile };
  return { mode: sslmode as TlsSettings['mode'], rootFile };
}

/** What is wrong with the parameters of a PostgreSQL address, as a sentence about it. */
export function problemOf(address: string): string | undefined {
  const parameters = Object.fromEntries(splitHosts(address)?.url.searchParams ?? []);
  const { sslmode = 'disable', sslrootcert, target_session_attrs: session } = parameters;
  if (session !== undefined && session !== 'read-write') {
    return 'has a target_session_attrs that is not supported; it can only be read-write, as it is without it where there are several hosts.';
  }
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
  return undefined;
}

/** Whether two addresses lead to the same database of the same servers, each as a user of its own. */
export function differOnlyInLogin(one: string, other: string): boolean {
  const [first, second] = [one, other].map(addressOf) as [Address, Address];
  return (
    nameOf(one) === nameOf(other) &&
    first.database === second.database &&
    splitHosts(other)?.url.username !== '' &&
    first.user !== second.user
  );
}

export interface Login {
  readonly user: string;
  /** Undefined where the server lets the user in without one. */
  readonly password: string | undefined;
}

export function loginOf(address: string): Login {
  const { user, password } = addressOf(address);
  return { user, password: password === '' ? undefined : password };
}
