/** Where a shop's database is, and as whom to log in. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** As the address says; by default verify-full, or disable on this machine. */
  readonly sslmode: string | undefined;
}

/** Completes "must be …". */
export const urlForm =
  'an address such as postgres://reader:password@db.example.com:5432/billing, with no parameter but sslmode: verify-full (the default), require, or on this machine disable';

const sslModes = new Set([undefined, 'verify-full', 'require', 'disable']);

/** @returns undefined if the text is not postgres://user:password@host:port/database, with sslmode at most */
export function parseTarget(text: unknown): Target | undefined {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol) || url.hash !== '') return undefined;
  const { sslmode, ...others } = Object.fromEntries(url.searchParams);
  if (!sslModes.has(sslmode) || Object.keys(others).length > 0) return undefined;
  const [user = '', password = '', host = '', database = ''] = [
    url.username,
    url.password,
    url.hostname,
    url.pathname.slice(1),
  ].map(decoded);
  // A slash is the folder of a socket on this machine.
  if (user === '' || database === '' || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 5432),
    database,
    user,
    password,
    sslmode,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
