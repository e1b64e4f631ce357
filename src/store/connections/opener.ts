import { dirname } from 'node:path';
import { type Address, type Place, addressOf } from '../../database-url.ts';
import { tlsOf } from './tls.ts';
import { type Listener, Session } from './session.ts';

/** Of the server, by their names. */
type Settings = Readonly<Record<string, string>>;

/** With several hosts, short enough that all of them can be tried. */
const perHostTimeoutMilliseconds = 2_000;

/** Its clients take turns, so connecting may wait for a long transaction. A process that is gone ends its socket. */
const embeddedTimeoutMilliseconds = 60_000;

const isWithoutTls = (error: Error) => error.message.includes('does not support SSL');

/** @throws when no server can be used */
export type Opener = (listener: Listener, connectTimeoutMilliseconds: number) => Promise<Session>;

/** @param target an address (postgres://…), or the path of the embedded database's socket */
export function openerOf(target: string, settings: Settings, allowStandby: boolean): Opener {
  return target.startsWith('/')
    ? openerOfSocket(target, settings)
    : openerOfServers(addressOf(target), settings, allowStandby);
}

function openerOfSocket(path: string, settings: Settings): Opener {
  const begin = {
    // Of these two the driver makes the path again.
    place: { host: dirname(path), port: 5432 },
    login: { user: 'postgres', password: '', database: 'postgres' },
    tls: undefined,
    settings,
  };
  return (listener) =>
    Session.open({ ...begin, connectTimeoutMilliseconds: embeddedTimeoutMilliseconds }, listener);
}

/** Tries one host after the other. */
function openerOfServers(address: Address, ours: Settings, allowStandby: boolean): Opener {
  const { places } = address;
  const tls = tlsOf(address.tls);
  const settings = { ...address.settings, ...ours };
  const open = async (place: Place, listener: Listener, connectTimeoutMilliseconds: number) => {
    const begin = { place, login: address, settings, connectTimeoutMilliseconds };
    const session = await Session.open({ ...begin, tls: tls.options }, listener).catch((error) => {
      if (!tls.isOptional || !isWithoutTls(error)) throw error;
      return Session.open({ ...begin, tls: undefined }, listener);
    });
    if (allowStandby || !session.isStandby) return session;
    session.close();
    throw Object.assign(new Error('it is a standby'), { code: 'CONNECTION_FAILED' });
  };
  return async (listener, connectTimeoutMilliseconds) => {
    const failures: Error[] = [];
    for (const place of places) {
      try {
        const timeout =
          places.length === 1 ? connectTimeoutMilliseconds : perHostTimeoutMilliseconds;
        return await open(place, listener, timeout);
      } catch (error) {
        failures.push(error as Error);
      }
    }
    const [first] = failures as [Error];
    if (failures.length === 1) throw first;
    const said = places.map(({ host, port }, at) => `${host}:${port}: ${failures[at]?.message}`);
    throw Object.assign(new Error(said.join('; ')), { code: (first as { code?: string }).code });
  };
}
