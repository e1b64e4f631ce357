import { dirname } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import {
  type Address,
  type Server,
  type TlsSettings,
  addressOf,
} from '../../config/database-url.ts';
import { type Listener, Session } from './session.ts';
import { CommandError } from '../../errors.ts';

/** Server settings by name. */
type Settings = Readonly<Record<string, string>>;

/** With several hosts, short enough to try all of them. */
const perHostTimeoutMilliseconds = 2_000;

/** Its clients take turns, so connecting may wait for a long transaction. If the server dies, its socket closes. */
const embeddedTimeoutMilliseconds = 60_000;

const isWithoutTls = (error: Error) => error.message.includes('does not support SSL');

/** @throws if no server can be used */
export type Opener = (listener: Listener, connectTimeoutMilliseconds: number) => Promise<Session>;

/** @param target an address (postgres://…), or the path of the embedded database's socket */
export function openerOf(target: string, settings: Settings, allowStandby: boolean): Opener {
  return target.startsWith('/')
    ? openerOfSocket(target, settings)
    : openerOfServers(addressOf(target), settings, allowStandby);
}

function openerOfSocket(path: string, settings: Settings): Opener {
  const options = {
    // The driver joins these two to the socket path.
    server: { host: dirname(path), port: 5432 },
    login: { user: 'postgres', password: '', database: 'postgres' },
    tls: undefined,
    settings,
  };
  return (listener) =>
    Session.open({ ...options, connectTimeoutMilliseconds: embeddedTimeoutMilliseconds }, listener);
}

/** Tries the hosts in order. */
function openerOfServers(address: Address, ownSettings: Settings, allowStandby: boolean): Opener {
  const { servers } = address;
  const tls = tlsOf(address.tls);
  const settings = { ...address.settings, ...ownSettings };
  const open = async (server: Server, listener: Listener, connectTimeoutMilliseconds: number) => {
    const options = { server, login: address, settings, connectTimeoutMilliseconds };
    const session = await Session.open({ ...options, tls: tls.options }, listener).catch(
      (error) => {
        if (!tls.isOptional || !isWithoutTls(error)) throw error;
        return Session.open({ ...options, tls: undefined }, listener);
      },
    );
    if (allowStandby || !session.isStandby) return session;
    session.close();
    throw Object.assign(new Error('it is a standby'), { code: 'CONNECTION_FAILED' });
  };
  return async (listener, connectTimeoutMilliseconds) => {
    const failures: Error[] = [];
    for (const server of servers) {
      try {
        const timeout =
          servers.length === 1 ? connectTimeoutMilliseconds : perHostTimeoutMilliseconds;
        return await open(server, listener, timeout);
      } catch (error) {
        failures.push(error as Error);
      }
    }
    const [first] = failures as [Error];
    if (failures.length === 1) throw first;
    const messages = servers.map(
      ({ host, port }, at) => `${host}:${port}: ${failures[at]?.message}`,
    );
    throw Object.assign(new Error(messages.join('; ')), {
      code: (first as { code?: string }).code,
    });
  };
}

/** TLS options for connections to an address. */
interface Tls {
  /** Undefined for connections without TLS. */
  readonly options: ConnectionOptions | undefined;
  /** Whether to fall back to a server without TLS. */
  readonly isOptional: boolean;
}

/** @throws CommandError if the file with root certificates cannot be used */
function tlsOf({ mode, rootFile }: TlsSettings): Tls {
  // Explicit, because an environment variable of Node.js can change the default.
  const verified = {
    rejectUnauthorized: true,
    ...(rootFile !== undefined && { ca: readRoots(rootFile) }),
  };
  const options: Readonly<Record<TlsSettings['mode'], ConnectionOptions | undefined>> = {
    disable: undefined,
    prefer: { rejectUnauthorized: false },
    require: { rejectUnauthorized: false },
    'verify-ca': { ...verified, checkServerIdentity: () => undefined },
    'verify-full': verified,
  };
  return { options: options[mode], isOptional: mode === 'prefer' };
}

/** Cached, so that later connections cannot fail because of the file. */
const rootsByFile = new Map<string, readonly string[]>();

function readRoots(file: string): string[] {
  let roots = rootsByFile.get(file);
  if (roots === undefined) {
    try {
      roots = listCertificates(readFileSync(file, 'utf8'));
    } catch (error) {
      throw new CommandError(
        `Cannot read the sslrootcert file ${file} as PEM certificates: ${(error as Error).message}`,
        { cause: error },
      );
    }
    rootsByFile.set(file, roots);
  }
  return [...roots];
}

/** Node.js silently ignores invalid certificates and would then trust fewer authorities, or none. */
function listCertificates(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (found === null) throw new Error('it contains none');
  return found.map((text) => new X509Certificate(text).toString());
}
