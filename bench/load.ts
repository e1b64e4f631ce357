import { type Socket, connect } from 'node:net';

/** One request, as bytes on the wire, and where it goes. */
export interface Target {
  readonly port: number;
  /** Called for each request, so that requests can differ. */
  request(): string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds, sorted. */
  readonly latencies: Float64Array;
}

const connections = 64;

/**
 * Closed loop: 64 connections, each sending its next request as soon as its answer is whole.
 * @throws when any answer is not 200, since a benchmark of errors says nothing
 */
export async function runLoad(target: Target, milliseconds: number): Promise<LoadResult> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(target.port)));
  const latencies: number[] = [];
  const begin = performance.now();
  const end = begin + milliseconds;
  await Promise.all(sockets.map((socket) => drive(socket, target, end, latencies)));
  const seconds = (performance.now() - begin) / 1000;
  for (const socket of sockets) socket.destroy();
  return {
    requests: latencies.length,
    seconds,
    latencies: Float64Array.from(latencies).toSorted(),
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

function drive(socket: Socket, target: Target, end: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let missing = 0;
    let head: Buffer = Buffer.alloc(0);
    const send = () => {
      sentAt = performance.now();
      if (sentAt >= end) return resolve();
      socket.write(target.request());
    };
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      if (missing > 0) {
        missing -= chunk.length;
      } else {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const bodyAt = head.indexOf('\r\n\r\n');
        if (bodyAt === -1) return;
        const text = head.toString('latin1', 0, bodyAt);
        if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(head.toString('utf8')));
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        missing = length - (head.length - bodyAt - 4);
        head = Buffer.alloc(0);
      }
      if (missing > 0) return;
      latencies.push(performance.now() - sentAt);
      send();
    });
    send();
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
