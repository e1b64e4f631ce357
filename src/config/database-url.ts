import { userInfo } from 'node:os';

/** One server in an address. */
export interface Server {
  readonly host: string;
  readonly port: number;
}

/** The parts of postgres://user:password@host:port,host:port/database?… */
export interface Address {
  /** With several, connections go to the one that accepts writes. */
  readonly servers: readonly Server[];
  readonly user: string;
  /** Empty if the server requires none. */
  readonly password: string;
  readonly database: string;
  readonly tls: TlsSettings;
  /** Server settings, taken from all other parameters. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Parameters for the client; all others are sent to the server. */
const ownParameters = new Set(['sslmode', 'sslrootcert', 'target_session_attrs']);

/** @returns undefined if the text is not a PostgreSQL address */
export function parseAddress(text: string): Address | undefined {
  const split = splitHosts(text);
  const servers = split?.hosts.map(parseServer);
  if (!split || !servers?.every((server) => server !== undefined)) return undefined;
  const { url } = split;
  if (!/^postgres(?:ql)?:$/.test(url.protocol)) return undefined;
  // Two addresses with a comma between, or what a password with an unquoted # has left.
  if (url.hash !== '' || split.after.includes('://')) return undefined;
  const [name, password, path] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (name === undefined || password === undefined || path === undefined) return undefined;
  const user = name || userInfo().username;
  const parameters = Object.fromEntries(url.searchParams);
  return {
    servers,
    user,
    password,
    database: path || user,
    tls: tlsSettingsOf(parameters),
    settings: Object.fromEntries(
      Object.entries(parameters).filter(([each]) => !ownParameters.has(each)),
    ),
  };
}

/** @param text an address that `parseConfig` has accepted */
export function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (!address) throw new TypeError('Not a PostgreSQL address.');
  return address;
}

/** The servers of an address as `host:port`, without user or password. */
export function nameOf(text: string): string {
  return addressOf(text)
    .servers.map(({ host, port }) => `${bracketed(host)}:${port}`)
    .join();
}

/** One address per host, with everything else the same. */
export function splitByHost(text: string): string[] {
  const { before = '', hosts = [], after = '' } = splitHosts(text) ?? {};
  return hosts.map((host) => before + host + after);
}

/** The address, of any scheme, with all passwords redacted. */
export function withoutPassword(text: string): string {
  const { before = '', hosts = [], after = '' } = splitHosts(text) ?? {};
  const url = new URL(`${before}host${after}`);
  if (url.password !== '') url.password = 'redacted';
  for (const name of url.searchParams.keys()) {
    if (/password/i.test(name)) url.searchParams.set(name, 'redacted');
  }
  return url.href.replace(/(?<=@|\/\/)host(?=[/?#]|$)/, hosts.join());
}

/** `URL` supports only one host and port, so the list of hosts is taken out first. */
function splitHosts(text: string) {
  const [, before, hosts, after] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]+)(.*)$/.exec(text) ?? [];
  const url = before === undefined ? null : URL.parse(`${before}host${after}`);
  if (before === undefined || hosts === undefined || after === undefined || !url) return undefined;
  return { before, hosts: hosts.split(','), after, url };
}

/** @returns undefined if the text has an invalid percent-encoding */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parseServer(text: string): Server | undefined {
  // Parse as a URL, then reject anything but a host and port.
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

/** The values that libpq accepts for `sslmode`. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Other libpq parameters that change how a connection is secured. */
const unsupported = /^(?:ssl(?!mode$|rootcert$)|requiressl$|channel_binding$|gssencmode$)/;

export interface TlsSettings {
  readonly mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';
  /** A PEM file of root certificates; undefined means the certificate authorities that Node.js trusts. */
  readonly rootFile: string | undefined;
}

function tlsSettingsOf({
  sslmode = 'disable',
  sslrootcert,
}: Readonly<Record<string, string>>): TlsSettings {
  const rootFile = sslrootcert === 'system' ? undefined : sslrootcert;
  // Neither mode verifies anything, so both use TLS if the server offers it.
  if (sslmode === 'allow') return { mode: 'prefer', rootFile };
  // As libpq does.
  if (sslmode === 'require' && rootFile !== undefined) return { mode: 'verify-ca', rootFile };
  return { mode: sslmode as TlsSettings['mode'], rootFile };
}

/** What is wrong with the parameters of an address, as the rest of a sentence that starts with its name. */
export function problemOf(address: string): string | undefined {
  const parameters = Object.fromEntries(splitHosts(address)?.url.searchParams ?? []);
  const { sslmode = 'disable', sslrootcert, target_session_attrs: session } = parameters;
  if (session !== undefined && session !== 'read-write') {
    return 'has a target_session_attrs that is not supported; only read-write is, which is also the default with several hosts.';
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
    return 'has sslmode=verify-ca, which needs sslrootcert=FILE: without it, any certificate from any public authority would be accepted. Or use sslmode=verify-full.';
  }
  return undefined;
}

/** Whether two addresses name the same database on the same servers, with different users. */
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
  /** Undefined if the server requires none. */
  readonly password: string | undefined;
}

/** Whether two addresses have different users. */
export function isOtherLogin(one: string, other: string): boolean {
  return one !== other && loginOf(one).user !== loginOf(other).user;
}

export function loginOf(address: string): Login {
  const { user, password } = addressOf(address);
  return { user, password: password === '' ? undefined : password };
}
