import type { Socket } from 'node:net';

import { ClientStream, type Unit } from './wire.ts';

// Large enough to spare most calls, small enough that the others do not wait for one client's pile.
const unitsPerTurn = 64;
const bytesPerTurn = 1024 * 1024;
// What a client may have waiting before its socket is no longer read.
const waitingUnits = 1024;
const waitingBytes = 4 * 1024 * 1024;

/** A connection to the embedded database, and what it has waiting there. */
export interface Client {
  id: number;
  socket: Socket;
  stream: ClientStream;
  /** Its transactions may not write. */
  readOnly: boolean;
  /** Why its transaction was made one that may not write. */
  shortage: string | undefined;
  units: Unit[];
  unitBytes: number;
  /** Names of the statements it has prepared in the shared session. */
  statements: Set<string>;
  /** It has a place in the line. */
  queued: boolean;
  /** Its peer has not read what was answered so far. */
  blocked: boolean;
  /** Nothing more will come from it. */
  ended: boolean;
  /** What it left in the session has been cleared away. */
  released: boolean;
  /** Times anything was heard from it. */
  signs: number;
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
    signs: 0,
  };
}

/** Whether the database has something to do for it: units whose answers it can take, or to clear up. */
export function hasWork(client: Client): boolean {
  if (client.units.length > 0) return !client.blocked;
  return client.ended && !client.released;
}

export function isFarAhead(client: Client): boolean {
  return client.units.length > waitingUnits || client.unitBytes > waitingBytes;
}

/** Takes as many of the waiting units as it may run before others have their turn; at least one. */
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

/** Forgets what has not begun. */
export function dropUnits(client: Client): void {
  client.units = [];
  client.unitBytes = 0;
}
