import { dirname } from 'node:path';
import { type Address, type Server, addressOf } from '../../config/database-url.ts';
import { tlsOf } from './tls.ts';
import { type Listener, Session } from './session.ts';

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
