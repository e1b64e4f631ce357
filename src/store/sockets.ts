import { type Socket, connect } from 'node:net';

/**
 * The sockets of some connections to one server. The driver ends a connection by asking the server to,
 * so one to a server that is frozen would stay, and keep the process from ending.
 */
export class Sockets {
  readonly #open = new Set<Socket>();
  readonly #closed: () => void;
  #isCut = false;

  /** @param closed is called whenever one of them has been closed, by whichever side */
  constructor(closed: () => void = () => {}) {
    this.#closed = closed;
  }

  /** @param address as in postgres://host:5432; what is sent before it is connected waits */
  open(address: string): Socket {
    const { host, port } = hostOf(address);
    // The driver looks there for the name to check in the server's certificate.
    const socket = Object.assign(connect(port, host), { host });
    if (this.#isCut) {
      // A last attempt of a driver that has been told to end; it has yet to listen to its socket.
      setImmediate(() => socket.destroy());
      return socket;
    }
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#closed();
    });
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
function hostOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  return { host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''), port: Number(port || 5432) };
}

/** `host:port`, by which people know a server; never its password. */
export function nameOf(address: string): string {
  const { hostname, port } = new URL(address);
  return `${hostname}:${port || 5432}`;
}
