import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type MetricName, metricDefinitions } from './definitions.ts';
import { type Histogram, type Reading, Registry } from './metrics.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** How a request arrived; `other` is the reference, the status pages and unknown routes. */
export type Transport = 'rest' | 'mcp' | 'other';

/** Seconds. */
const durationBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

type DurationsByOperation = Map<string, Map<number, Histogram>>;

/** The metrics of a running service; exists only if they are exposed. */
export class ServiceMetrics {
  readonly #registry = new Registry<MetricName>(metricDefinitions);
  readonly #duration = this.#registry.histogram(
    'retention_request_duration_seconds',
    durationBounds,
  );
  readonly #durations: Readonly<Record<Transport, DurationsByOperation>> = {
    rest: new Map(),
    mcp: new Map(),
    other: new Map(),
  };
  readonly #refusals = { rest: 0, mcp: 0 };
  readonly #eventLoop: ELDHistogram;

  constructor(build: { readonly version: string; readonly commit: string }) {
    this.gauge('retention_limiter_refusals_total', () =>
      Object.entries(this.#refusals).map(([transport, value]) => ({ labels: [transport], value })),
    );
    // Samples each turn; a timer would miss delays shorter than its interval.
    this.#eventLoop = monitorEventLoopDelay({ samplePerIteration: true });
    this.#eventLoop.enable();
    this.gauge('retention_event_loop_delay_seconds', () => this.#eventLoopDelay());
    this.gauge('retention_build_info', () => [
      { labels: [build.version, build.commit, process.version], value: 1 },
    ]);
    this.#addProcess();
  }

  /**
   * Counts a request once it is answered.
   * @param operation the operation's name; undefined if none was reached
   */
  count(
    transport: Transport,
    operation: string | undefined,
    status: number,
    seconds: number,
  ): void {
    const durations = this.#durations[transport];
    const name = operation ?? 'none';
    let ofOperation = durations.get(name);
    if (!ofOperation) durations.set(name, (ofOperation = new Map()));
    let histogram = ofOperation.get(status);
    if (!histogram) {
      ofOperation.set(status, (histogram = this.#duration(name, transport, String(status))));
    }
    histogram.observe(seconds);
    // Of REST and MCP: only the rate limiter refuses with 429 there.
    if (status === 429 && transport !== 'other') this.#refusals[transport] += 1;
  }

  /** Adds a metric from the table whose value is read at each scrape. */
  gauge(name: MetricName, read: () => Reading | Promise<Reading>): void {
    this.#registry.callback(name, read);
  }

  /** @returns all metrics in Prometheus text format */
  expose(): Promise<string> {
    return this.#registry.expose();
  }

  close(): void {
    this.#eventLoop.disable();
  }

  #eventLoopDelay(): Reading {
    const delay = this.#eventLoop;
    if (delay.count === 0) return undefined;
    const samples = [
      { labels: ['50'], value: delay.percentile(50) / 1e9 },
      { labels: ['99'], value: delay.percentile(99) / 1e9 },
      { labels: ['100'], value: delay.max / 1e9 },
    ];
    delay.reset();
    return samples;
  }

  #addProcess(): void {
    this.gauge('process_resident_memory_bytes', () => process.memoryUsage.rss());
    this.gauge('process_cpu_seconds_total', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
    this.gauge('process_start_time_seconds', () => performance.timeOrigin / 1000);
    this.gauge('nodejs_heap_used_bytes', () => process.memoryUsage().heapUsed);
  }
}

export interface Checked<T> {
  /** Undefined if it failed or timed out. */
  readonly answer: T | undefined;
  /** How long the answer took, or has been awaited. */
  readonly seconds: number;
}

const timeoutMilliseconds = 1_000;

/**
 * Creates a check for use by scrapes. At most one call runs at a time, so that a hanging database
 * does not accumulate calls, and each scrape waits at most a second.
 */
export function createTimedCheck<T>(
  call: () => Promise<T>,
  clock: Clock,
): () => Promise<Checked<T>> {
  let pending: { readonly start: number; readonly result: Promise<T | undefined> } | undefined;
  const start = () => {
    const result = call().catch(() => undefined);
    void result.then(() => (pending = undefined));
    return { start: clock.monotonic(), result };
  };

  return async () => {
    const current = (pending ??= start());
    const answer = await Promise.race([
      current.result,
      sleep(timeoutMilliseconds, undefined, { ref: false }),
    ]);
    return { answer, seconds: (clock.monotonic() - current.start) / 1000 };
  };
}
