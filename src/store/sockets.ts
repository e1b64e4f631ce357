import { type Socket, connect } from 'node:net';

/**
 * The sockets of some connections to one server. The driver ends a connection by asking the server to,
 * so one to a server that is frozen would stay, and keep the process from ending.
 */
export class Sockets {
  readonly #open = new Set<Socket>();
  #isCut = false;

  /** @param address as in postgres://host:5432; what is sent before it is connected waits */
  open(address: string): Socket {
    const { host, port } = hostOf(address);
    // The driver looks there for the name to ask for in TLS.
    const socket = Object.assign(connect(port, host), { host });
    // Told by looking: for TLS the driver takes all listeners off.
    for (const each of this.#open) if (each.destroyed) this.#open.delete(each);
    this.#open.add(socket);
    // An attempt of a driver that has been told to end; it has yet to listen to its socket. With an
    // error, since without one it would try again, and whoever waits for it would never learn.
    if (this.#isCut) {
      const cut = Object.assign(new Error('The connection is cut.'), { code: 'ECONNABORTED' });
      setImmediate(() => socket.destroy(cut));
    }
    return socket;
  }

  /** Closes all that are open without asking the server; the driver may open new ones. */
  reset(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Closes all that are open, and all that are yet to be opened. */
  cut(): void {
    this.#isCut = true;
    this.reset();
  }
}

/** Host, without the brackets of an IPv6 address, and port of postgres://… */
export function hostOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  return { host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''), port: Number(port || 5432) };
}

/** `host:port`, by which people know a server; never its password. */
export function nameOf(address: string): string {
  const { hostname, port } = new URL(address);
  return `${hostname}:${port || 5432}`;
}
