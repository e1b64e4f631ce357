import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { Transform } from 'node:stream';

/** A proxy between a program and a server that can fail as networks do. */
export interface Wire {
  readonly port: number;
  /** From now on open connections pass nothing: no byte, no end, no reset. */
  silence(): void;
  /** New connections as well are accepted and then pass nothing. */
  silenceAll(): void;
  /** Silent connections stay silent; new ones pass data again. */
  restore(): void;
  /** From now on, each part of what the server sends arrives that much later. */
  delay(milliseconds: number): void;
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
    }
    near.pipe(far);
    far.pipe(late()).pipe(near);
    if (isSilent) silence(pair);
  });
  let delay = 0;
  const late = () =>
    new Transform({
      transform(part, _encoding, done) {
        if (delay === 0) done(null, part);
        else setTimeout(done, delay, null, part);
      },
    });
  const silence = (pair: readonly [Socket, Socket]) => {
    pairs.delete(pair);
    for (const each of pair) each.unpipe();
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
    delay(milliseconds) {
      delay = milliseconds;
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
