import type { Client } from 'pg';

/** A server sends what the driver cannot read, such as a way to log in that it does not know. */
export class Unreadable extends Error {}

/** What the driver does not show in its types: how it begins to read. */
interface Reading {
  attachListeners(stream: Incoming): void;
}

interface Incoming {
  on(name: string, handle: (chunk: Buffer) => void): unknown;
  destroy(error: Error): unknown;
}

/**
 * Ends the connection to a server that sends what the driver cannot read: it would throw that where only the process can
 * catch it, or read on forever.
 * @param maxBytes of all answers together, which the driver keeps in memory
 */
export function guardReading(client: Client, maxBytes: number): void {
  const { connection } = client as unknown as { readonly connection: Reading };
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    const isWhole = createCheck();
    let bytes = 0;
    attach({
      on: (name, handle) =>
        stream.on(name, (chunk: Buffer) => {
          try {
            if (name === 'data') {
              bytes += chunk.length;
              if (bytes > maxBytes) throw new RangeError('The answers are too large.');
              if (!isWhole(chunk)) throw new RangeError('A message has no end.');
            }
            handle(chunk);
          } catch (cause) {
            stream.destroy(new Unreadable('unreadable message', { cause }));
          }
        }),
      destroy: (error) => stream.destroy(error),
    });
  };
}

const headerBytes = 5;
/** Errors and notices have fields until a zero byte, for which the driver also looks behind the message. */
const messagesWithFields: ReadonlySet<number | undefined> = new Set([0x45, 0x4e]);

/** @returns whether the messages that end in a chunk end as they must */
function createCheck(): (chunk: Buffer) => boolean {
  let header: number[] = [];
  let left = 0;
  let lastBytes = '';
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (header.length < headerBytes) {
        header.push(chunk[at] as number);
        at += 1;
        if (header.length < headerBytes) continue;
        // The length counts itself.
        left = Buffer.from(header).readUInt32BE(1) - 4;
        lastBytes = '';
        if (left < 0) return false;
      } else {
        const end = Math.min(at + left, chunk.length);
        lastBytes = (lastBytes + chunk.toString('latin1', Math.max(at, end - 2), end)).slice(-2);
        left -= end - at;
        at = end;
      }
      if (left > 0) continue;
      if (messagesWithFields.has(header[0]) && !/^\0{1,2}$/.test(lastBytes)) return false;
      header = [];
    }
    return true;
  };
}
