import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Incoming,
  type Unit,
  closeStatements,
  endsIdle,
  endsInTransaction,
  explainRefusals,
  fatalError,
  greeting,
  queryMessage,
  syncMessage,
  ClientStream,
} from './wire.ts';

/** One database session that processes whole messages, one call at a time. */
export interface EmbeddedSession {
  /** Runs the messages in order and returns the database's whole output. */
  run(messages: Buffer): Promise<Buffer>;
}

export interface MultiplexerOptions {
  /** As the database reports it; shown to clients. */
  serverVersion: string;
  /** How long a client may hold the session without sending anything. */
  holdTimeoutMilliseconds?: number;
  /** Returns why nothing may be written now, if anything; called before anything that may write. */
  findShortage?(): string | undefined;
  /** The session broke; nothing can be served any more. */
  onFailure(error: Error): void;
}

/**
 * Shares one database session among many clients. Units of different clients never interleave. A client in
 * a transaction, or between a flush and its sync, holds the session until it is done.
 *
 * Session state is shared: SET, session advisory locks, temporary tables and the names of prepared
 * statements, which drivers must therefore choose at random.
 */
export class Multiplexer {
  readonly #session: EmbeddedSession;
  readonly #options: MultiplexerOptions;
  readonly #holdTimeoutMilliseconds: number;
  readonly #clients = new Set<Client>();
  #queue: Client[] = [];
  #holder: Client | undefined;
  /** The holder is in a transaction that has not failed, and all its messages have been answered. */
  #inTransaction = false;
  #holdTimer: NodeJS.Timeout | undefined;
  #readOnly = false;
  #identity = superuser;
  #lastId = 0;
  #stopping = false;
  #running: Promise<void> | undefined;

  constructor(session: EmbeddedSession, options: MultiplexerOptions) {
    this.#session = session;
    this.#options = options;
    this.#holdTimeoutMilliseconds = options.holdTimeoutMilliseconds ?? 10_000;
  }

  /** Serves a connection. It must allow half-open: what the peer sent before disconnecting still runs. */
  serve(socket: Socket): void {
    if (this.#stopping) {
      socket.destroy();
      return;
    }
    const client = new Client(++this.#lastId, socket);
    this.#clients.add(client);
    socket.on('data', (chunk: Buffer) => this.#receive(client, chunk));
    socket.on('drain', () => {
      client.blocked = false;
      this.#noteActivity(client);
      this.#enqueue(client);
      this.#applyBackpressure(client);
    });
    socket.on('end', () => this.#endInput(client));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      client.dropUnits();
      this.#endInput(client);
    });
  }

  /** Waits for running work, rolls back an open transaction, and closes every connection. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    this.#clearHoldTimer();
    if (this.#holder) await this.#rollBack();
    for (const { socket } of this.#clients) {
      if (!socket.destroyed) socket.write(fatalError('57P01', 'the embedded database is stopping'));
      socket.destroySoon();
    }
  }

  /** Sends a final error to every client without waiting, as the process or thread is about to exit. */
  abandon(reason: string): void {
    this.#stopping = true;
    for (const { socket } of this.#clients) {
      if (socket.writable) socket.write(fatalError('57P02', reason));
    }
  }

  #receive(client: Client, chunk: Buffer): void {
    this.#noteActivity(client);
    if (client.ended) return;
    for (const incoming of client.stream.push(chunk)) this.#accept(client, incoming);
    this.#enqueue(client);
    this.#applyBackpressure(client);
  }

  #accept(client: Client, incoming: Incoming): void {
    const { socket } = client;
    switch (incoming.kind) {
      case 'encryptionRequest':
        socket.write('N');
        break;
      case 'startup': {
        const identity = identityOf(incoming.parameters);
        if (identity === undefined) {
          socket.write(fatalError('0A000', 'A role and a search path must not need quotes.'));
          this.#endInput(client);
          break;
        }
        client.identity = identity;
        client.readOnly = isOn(incoming.parameters.get('default_transaction_read_only'));
        socket.write(greeting(this.#parameters(client), client.id));
        break;
      }
      case 'unit':
        client.add(incoming.unit);
        break;
      case 'violation':
        socket.write(fatalError('08P01', incoming.message));
        this.#endInput(client);
        break;
      case 'cancelRequest':
      case 'terminate':
        this.#endInput(client);
        break;
    }
  }

  #parameters(client: Client): Record<string, string> {
    return {
      server_version: this.#options.serverVersion,
      server_encoding: 'UTF8',
      client_encoding: 'UTF8',
      DateStyle: 'ISO, MDY',
      IntervalStyle: 'postgres',
      TimeZone: 'UTC',
      integer_datetimes: 'on',
      standard_conforming_strings: 'on',
      in_hot_standby: 'off',
      default_transaction_read_only: client.readOnly ? 'on' : 'off',
    };
  }

  #endInput(client: Client): void {
    client.ended = true;
    this.#enqueue(client);
    this.#applyBackpressure(client);
  }

  /** Pauses a client that does not read its answers or has sent too far ahead. */
  #applyBackpressure(client: Client): void {
    const { socket } = client;
    const pause = client.blocked || client.exceedsBuffer;
    if (pause === socket.isPaused()) return;
    if (pause) socket.pause();
    else socket.resume();
  }

  #enqueue(client: Client): void {
    if (!client.hasWork) return;
    if (!client.queued) {
      client.queued = true;
      this.#queue.push(client);
    }
    // On the next turn of the event loop, so that one run sees the input of all sockets.
    this.#running ??= nextTurn().then(() => this.#work());
  }

  #next(): Client | undefined {
    if (this.#stopping) return undefined;
    if (this.#holder) return this.#holder.hasWork ? this.#holder : undefined;
    for (let client = this.#queue.shift(); client; client = this.#queue.shift()) {
      client.queued = false;
      if (client.hasWork) return client;
    }
    return undefined;
  }

  async #work(): Promise<void> {
    try {
      for (let client = this.#next(); client; client = this.#next()) {
        this.#clearHoldTimer();
        if (client.hasUnits) await this.#runUnits(client);
        else await this.#release(client);
        this.#enqueue(client);
        this.#applyBackpressure(client);
        await nextTurn();
      }
      if (this.#holder && !this.#stopping) this.#startHoldTimer(this.#holder);
    } catch (error) {
      this.#stopping = true;
      this.#holder = undefined;
      for (const { socket } of this.#clients) socket.destroy();
      this.#options.onFailure(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#running = undefined;
    }
  }

  async #runUnits(client: Client): Promise<void> {
    const units = client.takeTurn();
    await this.#setMode(client);
    let answer = await this.#session.run(Buffer.concat(units.flatMap((unit) => unit.parts)));
    if (client.shortage !== undefined) answer = explainRefusals(answer, client.shortage);
    for (const { name, open } of units.flatMap((unit) => unit.statements)) {
      if (open) client.statements.add(name);
      else client.statements.delete(name);
    }
    this.#holder = endsIdle(answer) ? undefined : client;
    this.#inTransaction = endsInTransaction(answer);
    if (client.socket.writable) client.blocked = !client.socket.write(answer);
  }

  /** Makes what runs next run as the client, and read-only if the client is, or if the disk is nearly full. */
  async #setMode(client: Client): Promise<void> {
    const shortage = client.readOnly ? undefined : this.#options.findShortage?.();
    if (!this.#holder) {
      client.shortage = shortage;
      if (client.identity !== this.#identity) {
        // Changes nothing while there is no such role: `serve` makes it once the schema is there.
        await this.#session.run(queryMessage(client.identity));
        this.#identity = client.identity;
      }
      const readOnly = client.readOnly || shortage !== undefined;
      if (readOnly === this.#readOnly) return;
      const mode = readOnly ? 'on' : 'off';
      await this.#session.run(queryMessage(`SET default_transaction_read_only = ${mode}`));
      this.#readOnly = readOnly;
    } else if (shortage !== undefined && this.#inTransaction) {
      // It can still read and commit; a transaction cannot become writable again.
      client.shortage = shortage;
      await this.#session.run(queryMessage('SET TRANSACTION READ ONLY'));
    }
  }

  async #release(client: Client): Promise<void> {
    client.released = true;
    this.#clients.delete(client);
    if (this.#holder === client) await this.#rollBack();
    if (client.statements.size > 0) await this.#session.run(closeStatements(client.statements));
    client.socket.destroySoon();
  }

  async #rollBack(): Promise<void> {
    const answer = await this.#session.run(syncMessage);
    if (!endsIdle(answer)) await this.#session.run(queryMessage('ROLLBACK'));
    this.#holder = undefined;
  }

  #noteActivity(client: Client): void {
    client.activity++;
    if (client === this.#holder) this.#holdTimer?.refresh();
  }

  #startHoldTimer(holder: Client): void {
    this.#holdTimer ??= setTimeout(async () => {
      this.#holdTimer = undefined;
      // If this process was suspended, its timers fire before it reads what has arrived.
      const { activity } = holder;
      await nextTurn();
      if (this.#holder !== holder || this.#running) return;
      if (holder.activity === activity) this.#disconnect(holder);
      else this.#startHoldTimer(holder);
    }, this.#holdTimeoutMilliseconds);
  }

  #clearHoldTimer(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
  }

  #disconnect(holder: Client): void {
    const text = 'the client held the embedded database without sending anything';
    holder.socket.write(fatalError('25P03', text));
    holder.socket.destroy();
    holder.dropUnits();
    this.#endInput(holder);
  }
}

const superuser = 'RESET ROLE; RESET search_path';

/** @returns undefined if it has names that need quotes */
function identityOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const [role, path] = [parameters.get('role'), parameters.get('search_path')];
  if (role === undefined || path === undefined) return superuser;
  if (!/^[a-z_, ]+$/.test(role + path)) return undefined;
  return `SET ROLE ${role}; SET search_path = ${path}`;
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && ['on', 'true', 'yes', '1'].includes(value.toLowerCase());
}

// Large enough to save most calls, small enough that one busy client does not delay the others.
const unitsPerTurn = 64;
const bytesPerTurn = 1024 * 1024;
// Limits for unprocessed input, above which the socket is paused.
const waitingUnits = 1024;
const waitingBytes = 4 * 1024 * 1024;

/** A connection to the embedded database, with its pending input. */
class Client {
  readonly id: number;
  readonly socket: Socket;
  readonly stream = new ClientStream();
  /** Its transactions are read-only. */
  readOnly = false;
  /** Makes its statements run with its role and search path. */
  identity = superuser;
  /** Why its transaction was made read-only. */
  shortage: string | undefined;
  /** Names of its prepared statements in the shared session. */
  readonly statements = new Set<string>();
  /** Whether it is in the queue. */
  queued = false;
  /** The peer has not read earlier answers yet. */
  blocked = false;
  /** No more input will come. */
  ended = false;
  /** Its state in the session has been cleaned up. */
  released = false;
  /** Incremented whenever the peer shows any activity. */
  activity = 0;
  #units: Unit[] = [];
  #bytes = 0;

  constructor(id: number, socket: Socket) {
    this.id = id;
    this.socket = socket;
  }

  get hasUnits(): boolean {
    return this.#units.length > 0;
  }

  /** Whether there is work for it: units whose answers it can take, or a final clean-up. */
  get hasWork(): boolean {
    return this.hasUnits ? !this.blocked : this.ended && !this.released;
  }

  get exceedsBuffer(): boolean {
    return this.#units.length > waitingUnits || this.#bytes > waitingBytes;
  }

  add(unit: Unit): void {
    this.#units.push(unit);
    this.#bytes += unit.size;
  }

  /** Takes as many waiting units as it may run before other clients' turns; at least one. */
  takeTurn(): Unit[] {
    let count = 0;
    let bytes = 0;
    while (count < this.#units.length && count < unitsPerTurn && bytes < bytesPerTurn) {
      bytes += this.#units[count]!.size;
      count++;
    }
    this.#bytes -= bytes;
    return this.#units.splice(0, count);
  }

  /** Discards units that have not started. */
  dropUnits(): void {
    this.#units = [];
    this.#bytes = 0;
  }
}
