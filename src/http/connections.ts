import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** Milliseconds, bytes and counts that limit what a client may use of our time and memory. */
export const limits = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  /** How long a client may stop reading a response; Node.js notices within twice the time. */
  stallTimeout: 15_000,
  headerBytes: 16 * 1024,
  connectionsCheckingInterval: 2_000,
  /** Further connections are closed at once. */
  connections: 10_000,
  /** Requests on one connection that wait for the response to an earlier one. */
  pipelined: 64,
};

/** Sets limits that Fastify has no option for. */
export function limitConnections(server: Server): void {
  server.maxConnections = limits.connections;
  // Either the connection is idle between requests (with its own timeout), the client does not read, or
  // we have not responded yet. Only the last must stay open.
  server.on('timeout', (socket) => {
    const isIdle = socket.timeout === server.keepAliveTimeout + server.keepAliveTimeoutBuffer;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
}

interface Pipeline {
  latest: ServerResponse;
  waiting: number;
}

/** Tracks the outstanding responses of each connection; they are sent in the order of the requests. */
export class Pipelines {
  readonly #pipelines = new WeakMap<Socket, Pipeline>();
  readonly #stallTimeout: number;

  constructor(stallTimeout: number = limits.stallTimeout) {
    this.#stallTimeout = stallTimeout;
  }

  /** @returns false if the connection was closed because too many of its requests are waiting */
  accept({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const pipeline = this.#pipelines.get(socket);
    if (!pipeline) {
      this.#pipelines.set(socket, { latest: response, waiting: 0 });
      return true;
    }
    pipeline.latest = response;
    // Node.js assigns the socket to a response once all earlier ones are sent.
    if (response.socket !== null) return true;
    pipeline.waiting += 1;
    response.once('close', () => {
      pipeline.waiting -= 1;
    });
    if (pipeline.waiting > limits.pipelined) socket.destroy();
    else socket.setTimeout(this.#stallTimeout);
    return !socket.destroyed;
  }

  /**
   * Disconnects a client that stops reading after a response is written. Most responses are already in
   * the operating system's buffers, so this sets far fewer timers than one per request.
   */
  guardAnswer({ socket }: IncomingMessage): void {
    if (socket.writableLength > 0) socket.setTimeout(this.#stallTimeout);
  }

  /** Disconnects a client that stops reading a response that is still being written. */
  guardStream({ socket }: IncomingMessage): void {
    socket.setTimeout(this.#stallTimeout);
  }

  /**
   * Runs once all requests before the broken one have their responses. `needsAnswer` is false if the
   * broken request got its response before its body broke off.
   */
  afterAnswers(socket: Socket, run: (needsAnswer: boolean) => void): void {
    const latest = this.#pipelines.get(socket)?.latest;
    if (!latest) return run(true);
    // While the latest request's body is incomplete, no later request can be the broken one.
    if (!latest.req.complete) return run(!latest.headersSent);
    if (latest.writableFinished || latest.destroyed) return run(true);
    latest.once('close', () => run(true));
  }
}

interface Drain {
  readonly clock: Clock;
  readonly milliseconds: number;
  readonly deadline: AbortSignal;
}

/** Keeps serving until every connection has been closed after a response, or time is up. */
export async function drainConnections(
  countConnections: () => Promise<number>,
  { clock, milliseconds, deadline }: Drain,
): Promise<void> {
  const end = clock.monotonic() + milliseconds;
  while (clock.monotonic() < end && !deadline.aborted && (await countConnections()) > 0) {
    await sleep(10);
  }
}

/** Settles once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
