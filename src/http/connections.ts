import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds, bytes and counts: what a client may use of our time and memory. */
export const limits = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  /** How long the client may accept nothing of an answer; Node.js notices within twice the time. */
  stallTimeout: 15_000,
  headerBytes: 16 * 1024,
  connectionsCheckingInterval: 2_000,
  /** One more is closed at once. */
  connections: 10_000,
  /** Requests of one connection that wait for the answer to an earlier one. */
  pipelined: 64,
};

/** Sets what Fastify has no option for. */
export function boundConnections(server: Server): void {
  server.maxConnections = limits.connections;
  // Nothing moves in either direction: an idle connection between requests, which has a time of its own,
  // a client that does not read, or a request that we have not answered yet.
  server.on('timeout', (socket) => {
    const isIdle = socket.timeout === server.keepAliveTimeout + server.keepAliveTimeoutBuffer;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
}

interface Pipeline {
  latest: ServerResponse;
  waiting: number;
}

/** The answers that each connection is still owed; they are sent in the order of the requests. */
export class Pipelines {
  readonly #pipelines = new WeakMap<Socket, Pipeline>();
  readonly #stallTimeout: number;

  constructor(stallTimeout: number = limits.stallTimeout) {
    this.#stallTimeout = stallTimeout;
  }

  /** @returns false where the connection was closed, since too many of its requests wait */
  accept({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const pipeline = this.#pipelines.get(socket);
    if (!pipeline) {
      this.#pipelines.set(socket, { latest: response, waiting: 0 });
      return true;
    }
    pipeline.latest = response;
    // Node.js hands a response the socket once all those before it are sent.
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
   * Cuts the client off if it stops reading, once an answer is written. A timer for every request would
   * cost more than this, and most answers are with the operating system by now.
   */
  guardAnswer({ socket }: IncomingMessage): void {
    if (socket.writableLength > 0) socket.setTimeout(this.#stallTimeout);
  }

  /**
   * Runs once all requests before the one that broke are answered, and is told whether that one still
   * has to be: it may have been answered before its body broke off.
   */
  afterAnswers(socket: Socket, run: (isOwed: boolean) => void): void {
    const latest = this.#pipelines.get(socket)?.latest;
    if (!latest) return run(true);
    // Until the body of the latest request is complete, there is no later one that could break.
    if (!latest.req.complete) return run(!latest.headersSent);
    if (latest.writableFinished || latest.destroyed) return run(true);
    latest.once('close', () => run(true));
  }
}
