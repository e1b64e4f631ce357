import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** What lies between a program and a server, and can fail as networks do. */
export interface Wire {
  readonly port: number;
  /** From now on nothing passes on the connections that there are: no byte, no end, no reset. */
  hush(): void;
  /** New connections, too, are taken and then hear nothing. */
  hushAll(): void;
  /** Whatever is silent stays so; new connections are let through. */
  mend(): void;
  /** Closes the silent connections on both sides. */
  cut(): void;
  close(): Promise<void>;
}

/** @param portOf of the server on this machine to which new connections go, asked for each */
export async function startWire(portOf: () => number): Promise<Wire> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isSilent = false;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: portOf(), host: '127.0.0.1', allowHalfOpen: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('error', () => from.destroy());
      from.on('close', () => pairs.delete(pair) && to.destroy());
      from.pipe(to);
    }
    if (isSilent) hush(pair);
  });
  const hush = (pair: readonly [Socket, Socket]) => {
    pairs.delete(pair);
    const [near, far] = pair;
    near.unpipe(far);
    far.unpipe(near);
    // What comes is swallowed, as by a router that has forgotten the connection.
    for (const each of pair) each.removeAllListeners('end').resume();
    hushed.push(pair);
  };
  const hushed: (readonly [Socket, Socket])[] = [];
  const cut = () => {
    for (const pair of hushed.splice(0)) for (const each of pair) each.destroy();
  };
  const hushOpen = () => [...pairs].forEach(hush);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hush: hushOpen,
    hushAll() {
      isSilent = true;
      hushOpen();
    },
    mend() {
      isSilent = false;
    },
    cut,
    async close() {
      cut();
      for (const pair of pairs) for (const each of pair) each.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
