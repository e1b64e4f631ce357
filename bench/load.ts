import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';

export interface Target {
  /** Connections are spread over them. */
  readonly ports: readonly number[];
  /** The next request, as text on the wire. */
  request(): string;
  /** Statuses that are answers too, besides 200. */
  readonly refusals?: readonly number[];
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds, ascending. */
  readonly latencies: Float64Array;
  /** How many answers had a status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** When a load ends. */
type Extent = { readonly milliseconds: number } | { readonly requests: number };

const usualConnections = 64;

/**
 * Closed loop: connections that each send their next request as soon as their answer is whole.
 * @throws when an answer is none that is expected, since a benchmark of errors says nothing
 */
export async function runClosedLoop(
  target: Target,
  extent: Extent,
  connections = usualConnections,
): Promise<LoadResult> {
  const run = new Run(target);
  await run.open(connections);
  const begin = performance.now();
  let sent = 0;
  const isOver =
    'requests' in extent
      ? () => sent >= extent.requests
      : () => performance.now() >= begin + extent.milliseconds;
  const drive = () =>
    new Promise<void>((resolve) => {
      const next = () => {
        if (isOver()) return resolve();
        sent += 1;
        run.send(performance.now(), next);
      };
      next();
    });
  return run.finish(Promise.all(Array.from({ length: connections }, drive)), begin);
}

export interface OpenLoopResult extends LoadResult {
  /** How late the latest request was sent, in milliseconds; the fault of the generator. */
  readonly mostLateMilliseconds: number;
}

/**
 * Open loop: each request is sent at its time whatever has become of those before, and its latency is
 * counted from that time. So a server that stalls is charged for every request of the stall.
 * @throws when an answer is none that is expected
 */
export async function runOpenLoop(
  target: Target,
  perSecond: number,
  milliseconds: number,
): Promise<OpenLoopResult> {
  const run = new Run(target);
  await run.open(usualConnections);
  const begin = performance.now();
  let mostLateMilliseconds = 0;
  const sendAll = async () => {
    const answers: Promise<void>[] = [];
    for (let at = begin; at < begin + milliseconds; at += 1000 / perSecond) {
      mostLateMilliseconds = Math.max(mostLateMilliseconds, (await untilTime(at)) - at);
      answers.push(new Promise((resolve) => run.send(at, resolve)));
    }
    await Promise.all(answers);
  };
  return { ...(await run.finish(sendAll(), begin)), mostLateMilliseconds };
}

/** A timer is up to two milliseconds late, so the rest is waited for turn by turn. */
async function untilTime(at: number): Promise<number> {
  const milliseconds = Math.floor(at - performance.now()) - 2;
  if (milliseconds > 0) await sleep(milliseconds);
  for (;;) {
    const now = performance.now();
    if (now >= at) return now;
    await turn();
  }
}

/** One load: its connections, and what came of its requests. */
class Run {
  readonly #target: Target;
  readonly #all: Connection[] = [];
  readonly #idle: Connection[] = [];
  readonly #latencies: number[] = [];
  readonly #statuses = new Map<number, number>();
  readonly #failed = Promise.withResolvers<never>();

  constructor(target: Target) {
    this.#target = target;
  }

  /** Connects as often as is foreseen. */
  async open(connections: number): Promise<void> {
    const opened = Array.from({ length: connections }, () => {
      const connection = this.#connect();
      this.#idle.push(connection);
      return connection.opened();
    });
    await Promise.race([this.#failed.promise, Promise.all(opened)]);
  }

  /**
   * Sends a request over a connection that is idle, or a new one.
   * @param from when its latency begins
   */
  send(from: number, answered: () => void): void {
    const connection = this.#idle.pop() ?? this.#connect();
    connection.send(this.#target.request(), (status, answer) => {
      this.#latencies.push(performance.now() - from);
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
      if (status !== 200 && !this.#target.refusals?.includes(status)) {
        return this.#failed.reject(new Error(answer.toString('utf8')));
      }
      this.#idle.push(connection);
      answered();
    });
  }

  /** @param done settles once all is answered */
  async finish(done: Promise<unknown>, begin: number): Promise<LoadResult> {
    await Promise.race([this.#failed.promise, done]);
    const seconds = (performance.now() - begin) / 1000;
    for (const connection of this.#all) connection.close();
    return {
      requests: this.#latencies.length,
      seconds,
      latencies: Float64Array.from(this.#latencies).toSorted(),
      statuses: this.#statuses,
    };
  }

  #connect(): Connection {
    const { ports } = this.#target;
    const port = ports[this.#all.length % ports.length] as number;
    const connection = new Connection(port, (error) => this.#failed.reject(error));
    this.#all.push(connection);
    return connection;
  }
}
