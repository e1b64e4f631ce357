import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type MetricName, metricDefinitions } from './definitions.ts';
import { type Counter, type Histogram, type Reading, Registry } from './metrics.ts';

/** `other`: the reference, the status pages, the owner's pages and unknown paths. */
export type Transport = 'rest' | 'mcp' | 'other';

/** Seconds. */
const durationBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

type DurationsByOperation = Map<string, Map<number, Histogram>>;

/** What one running service counts; it is made only where somebody can ask for it. */
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
  readonly #refusals: Readonly<Record<'rest' | 'mcp', Counter>>;
  readonly #eventLoop: ELDHistogram;

  /** @param version of this service */
  constructor(version: string) {
    const refusals = this.#registry.counter('retention_limiter_refusals_total');
    this.#refusals = { rest: refusals('rest'), mcp: refusals('mcp') };
    // Of each turn, rather than by a timer that would only see what lasts longer than itself.
    this.#eventLoop = monitorEventLoopDelay({ samplePerIteration: true });
    this.#eventLoop.enable();
    this.gauge('retention_event_loop_delay_seconds', () => this.#eventLoopDelay());
    this.gauge('retention_build_info', () => [{ labels: [version, process.version], value: 1 }]);
    this.#addProcess();
  }

  /**
   * Counts an answered request.
   * @param operation the name of a tool of the catalogue; undefined where none was reached
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
    // Nothing but the limiter answers so.
    if (status === 429 && transport !== 'other') this.#refusals[transport].value += 1;
  }

  /** Adds a metric of the table, whose value is asked for at each scrape. */
  gauge(name: MetricName, read: () => Reading | Promise<Reading>): void {
    this.#registry.callback(name, read);
  }

  /** @returns everything in Prometheus' text format */
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
