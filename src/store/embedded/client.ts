import type { Socket } from 'node:net';

import { ClientStream, type Unit } from './wire.ts';

// Large enough to save most calls, small enough that one busy client does not delay the others.
const unitsPerTurn = 64;
const bytesPerTurn = 1024 * 1024;
// Limits for unprocessed input, above which the socket is paused.
const waitingUnits = 1024;
const waitingBytes = 4 * 1024 * 1024;

/** A connection to the embedded database, with its pending input. */
export interface Client {
  id: number;
  socket: Socket;
  stream: ClientStream;
  /** Its transactions are read-only. */
  readOnly: boolean;
  /** Why its transaction was made read-only. */
  shortage: string | undefined;
  units: Unit[];
  unitBytes: number;
  /** Names of its prepared statements in the shared session. */
  statements: Set<string>;
  /** Whether it is in the queue. */
  queued: boolean;
  /** The peer has not read earlier answers yet. */
  blocked: boolean;
  /** No more input will come. */
  ended: boolean;
  /** Its state in the session has been cleaned up. */
  released: boolean;
  /** Incremented whenever the peer shows any activity. */
  activity: number;
}

export function newClient(id: number, socket: Socket): Client {
  return {
    id,
    socket,
    stream: new ClientStream(),
    readOnly: false,
    shortage: undefined,
    units: [],
    unitBytes: 0,
    statements: new Set(),
    queued: false,
    blocked: false,
    ended: false,
    released: false,
    activity: 0,
  };
}

/** Whether there is work for it: units whose answers it can take, or a final clean-up. */
export function hasWork(client: Client): boolean {
  if (client.units.length > 0) return !client.blocked;
  return client.ended && !client.released;
}

export function exceedsBuffer(client: Client): boolean {
  return client.units.length > waitingUnits || client.unitBytes > waitingBytes;
}

/** Takes as many waiting units as it may run before other clients' turns; at least one. */
export function takeTurn(client: Client): Unit[] {
  let count = 0;
  let bytes = 0;
  while (count < client.units.length && count < unitsPerTurn && bytes < bytesPerTurn) {
    bytes += client.units[count]!.size;
    count++;
  }
  client.unitBytes -= bytes;
  return client.units.splice(0, count);
}

/** Discards units that have not started. */
export function dropUnits(client: Client): void {
  client.units = [];
  client.unitBytes = 0;
}
