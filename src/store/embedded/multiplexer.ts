import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { dropUnits, hasWork, isFarAhead, newClient, takeTurn, type Client } from './client.ts';
import { explainRefusals } from './disk-space.ts';
import {
  closeStatements,
  endsIdle,
  endsInTransaction,
  fatalError,
  greeting,
  queryMessage,
  syncMessage,
  type Incoming,
} from './wire.ts';

/** One database session that answers whole messages; calls never overlap. */
export interface Session {
  /** Runs the messages in order and answers everything the database said. */
  run(messages: Buffer): Promise<Buffer>;
}

export interface MultiplexerOptions {
  /** As the database reports it, shown to clients. */
  serverVersion: string;
  /** How long a client may keep the session without a word before it is put out. */
  holdTimeoutMilliseconds?: number;
  /** Says why nothing may be written now, if anything: asked before what may write runs. */
  findShortage?(): string | undefined;
  /** The session broke; nothing is served from here on. */
  onFailure(error: Error): void;
}

/**
 * Lets many clients share one database session. A unit is never interrupted by another client's; a
 * client in a transaction, or between a flush and its sync, keeps the session until it is through.
 *
 * What belongs to a session is shared: settings made with SET, session advisory locks, temporary
 * tables and the names of prepared statements, which drivers must therefore choose at random.
 */
export class Multiplexer {
  readonly #session: Session;
  readonly #options: MultiplexerOptions;
  readonly #holdTimeoutMilliseconds: number;
  readonly #clients = new Set<Client>();
  #line: Client[] = [];
  #holder: Client | undefined;
  /** The holder is in a transaction that has not failed, and has been answered in full. */
  #inTransaction = false;
  #holdTimer: NodeJS.Timeout | undefined;
  #readOnly = false;
  #lastId = 0;
  #stopping = false;
  #running: Promise<void> | undefined;

  constructor(session: Session, options: MultiplexerOptions) {
    this.#session = session;
    this.#options = options;
    this.#holdTimeoutMilliseconds = options.holdTimeoutMilliseconds ?? 10_000;
  }

  /** Serves a connection, which must allow half-open: what its peer sent before leaving still runs. */
  serve(socket: Socket): void {
    if (this.#stopping) {
      socket.destroy();
      return;
    }
    const client = newClient(++this.#lastId, socket);
    this.#clients.add(client);
    socket.on('data', (chunk: Buffer) => this.#receive(client, chunk));
    socket.on('drain', () => {
      client.blocked = false;
      this.#hear(client);
      this.#enqueue(client);
      this.#regulate(client);
    });
    socket.on('end', () => this.#leave(client));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      dropUnits(client);
      this.#leave(client);
    });
  }

  /** Lets what is running end, rolls back what is open, and closes every connection. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    this.#unwatch();
    if (this.#holder) await this.#rollBack();
    for (const { socket } of this.#clients) {
      if (!socket.destroyed) socket.write(fatalError('57P01', 'the embedded database is stopping'));
      socket.destroySoon();
    }
  }

  /** Says a last word on every connection, without waiting: the process or thread ends next. */
  abandon(reason: string): void {
    this.#stopping = true;
    for (const { socket } of this.#clients) {
      if (socket.writable) socket.write(fatalError('57P02', reason));
    }
  }

  #receive(client: Client, chunk: Buffer): void {
    this.#hear(client);
    if (client.ended) return;
    for (const incoming of client.stream.push(chunk)) this.#accept(client, incoming);
    this.#enqueue(client);
    this.#regulate(client);
  }

  #accept(client: Client, incoming: Incoming): void {
    const { socket } = client;
    switch (incoming.kind) {
      case 'encryptionRequest':
        socket.write('N');
        break;
      case 'startup':
        client.readOnly = isOn(incoming.parameters.get('default_transaction_read_only'));
        socket.write(greeting(this.#parameters(client), client.id));
        break;
      case 'unit':
        client.units.push(incoming.unit);
        client.unitBytes += incoming.unit.size;
        break;
      case 'violation':
        socket.write(fatalError('08P01', incoming.message));
        this.#leave(client);
        break;
      case 'cancelRequest':
      case 'terminate':
        this.#leave(client);
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

  #leave(client: Client): void {
    client.ended = true;
    this.#enqueue(client);
    this.#regulate(client);
  }

  /** Reads from a client only while it can take answers and has not sent far ahead. */
  #regulate(client: Client): void {
    const { socket } = client;
    const pause = client.blocked || isFarAhead(client);
    if (pause === socket.isPaused()) return;
    if (pause) socket.pause();
    else socket.resume();
  }

  #enqueue(client: Client): void {
    if (!hasWork(client)) return;
    if (!client.queued) {
      client.queued = true;
      this.#line.push(client);
    }
    // The next turn of the event loop, so that one run sees what all sockets have brought.
    this.#running ??= nextTurn().then(() => this.#work());
  }

  #next(): Client | undefined {
    if (this.#stopping) return undefined;
    if (this.#holder) return hasWork(this.#holder) ? this.#holder : undefined;
    for (let client = this.#line.shift(); client; client = this.#line.shift()) {
      client.queued = false;
      if (hasWork(client)) return client;
    }
    return undefined;
  }

  async #work(): Promise<void> {
    try {
      for (let client = this.#next(); client; client = this.#next()) {
        this.#unwatch();
        if (client.units.length > 0) await this.#runUnits(client);
        else await this.#release(client);
        this.#enqueue(client);
        this.#regulate(client);
        await nextTurn();
      }
      if (this.#holder && !this.#stopping) this.#watch(this.#holder);
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
    const units = takeTurn(client);
    await this.#setReadOnly(client);
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

  /** Lets what comes next write only if its client may and the disk has room. */
  async #setReadOnly(client: Client): Promise<void> {
    const shortage = client.readOnly ? undefined : this.#options.findShortage?.();
    if (!this.#holder) {
      client.shortage = shortage;
      const readOnly = client.readOnly || shortage !== undefined;
      if (readOnly === this.#readOnly) return;
      const mode = readOnly ? 'on' : 'off';
      await this.#session.run(queryMessage(`SET default_transaction_read_only = ${mode}`));
      this.#readOnly = readOnly;
    } else if (shortage !== undefined && this.#inTransaction) {
      // It can still read, and commit what it has written; a transaction never becomes writable again.
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

  #hear(client: Client): void {
    client.signs++;
    if (client === this.#holder) this.#holdTimer?.refresh();
  }

  #watch(holder: Client): void {
    this.#holdTimer ??= setTimeout(async () => {
      this.#holdTimer = undefined;
      // If this process itself was suspended, its timers run before it hears what has been sent.
      const { signs } = holder;
      await nextTurn();
      if (this.#holder !== holder || this.#running) return;
      if (holder.signs === signs) this.#expel(holder);
      else this.#watch(holder);
    }, this.#holdTimeoutMilliseconds);
  }

  #unwatch(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
  }

  #expel(holder: Client): void {
    const text = 'the client kept the embedded database to itself and fell silent';
    holder.socket.write(fatalError('25P03', text));
    holder.socket.destroy();
    dropUnits(holder);
    this.#leave(holder);
  }
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && ['on', 'true', 'yes', '1'].includes(value.toLowerCase());
}
