import { Connection } from './connection.ts';
import { epochNow, pace } from './pacer.ts';

export interface Target {
  /** Connections are spread over them. */
  readonly ports: readonly number[];
  /** The next request, as text on the wire. */
  request(): string;
  /** Expected statuses besides 200. */
  readonly refusals?: readonly number[];
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds, ascending. */
  readonly latencies: Float64Array;
  /** Number of answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** When a load ends. */
type Extent = { readonly milliseconds: number } | { readonly requests: number };

const defaultConnections = 64;
/** Until the thread that paces an open loop runs. */
const startMilliseconds = 200;

/**
 * Closed loop: each connection sends its next request as soon as its answer is complete.
 * @throws on an unexpected answer, because a benchmark of errors says nothing
 */
export async function runClosedLoop(
  target: Target,
  extent: Extent,
  connections = defaultConnections,
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
  /** The longest delay in sending a request, in milliseconds; the load generator's fault. */
  readonly maxLateMilliseconds: number;
}

/**
 * Open loop: each request is sent on schedule whether or not earlier ones have been answered, and
 * its latency counts from that time. So a stall is charged to every request scheduled during it.
 * @throws on an unexpected answer
 */
export async function runOpenLoop(
  target: Target,
  perSecond: number,
  milliseconds: number,
): Promise<OpenLoopResult> {
  const run = new Run(target);
  await run.open(defaultConnections);
  const begin = epochNow() + startMilliseconds;
  const schedule = { begin, end: begin + milliseconds, interval: 1000 / perSecond };
  let maxLateMilliseconds = 0;
  const answers: Promise<void>[] = [];
  const sent = pace(schedule, (at) => {
    maxLateMilliseconds = Math.max(maxLateMilliseconds, epochNow() - at);
    answers.push(new Promise((resolve) => run.send(at - performance.timeOrigin, resolve)));
  });
  const done = sent.then(() => Promise.all(answers));
  return { ...(await run.finish(done, begin - performance.timeOrigin)), maxLateMilliseconds };
}

/** One load: its connections and results. */
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

  /** Opens the initial connections. */
  async open(connections: number): Promise<void> {
    const opened = Array.from({ length: connections }, () => {
      const connection = this.#connect();
      this.#idle.push(connection);
      return connection.opened();
    });
    await Promise.race([this.#failed.promise, Promise.all(opened)]);
  }

  /**
   * Sends a request over an idle connection, or a new one.
   * @param from the time from which its latency counts
   */
  send(from: number, answered: () => void): void {
    // The longest idle one: a server closes connections that never send a request.
    const connection = this.#idle.shift() ?? this.#connect();
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

  /** @param done settles once everything is answered */
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
