import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A proxy between a program and a server that can fail as networks do. */
export interface Wire {
  readonly port: number;
  /** From now on open connections pass nothing: no byte, no end, no reset. */
  silence(): void;
  /** New connections as well are accepted and then pass nothing. */
  silenceAll(): void;
  /** Silent connections stay silent; new ones pass data again. */
  restore(): void;
  /** Closes the silent connections on both sides. */
  cut(): void;
  close(): Promise<void>;
}

/** @param portOf returns the port on this machine for each new connection */
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
    if (isSilent) silence(pair);
  });
  const silence = (pair: readonly [Socket, Socket]) => {
    pairs.delete(pair);
    const [near, far] = pair;
    near.unpipe(far);
    far.unpipe(near);
    // Input is discarded, as by a router that has lost the connection.
    for (const each of pair) each.removeAllListeners('end').resume();
    silenced.push(pair);
  };
  const silenced: (readonly [Socket, Socket])[] = [];
  const cut = () => {
    for (const pair of silenced.splice(0)) for (const each of pair) each.destroy();
  };
  const silenceOpen = () => [...pairs].forEach(silence);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    silence: silenceOpen,
    silenceAll() {
      isSilent = true;
      silenceOpen();
    },
    restore() {
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
