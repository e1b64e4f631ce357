/*
 * Counters, histograms and gauges in Prometheus text format.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4)
 */

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence, with the unit. */
  readonly help: string;
  readonly labels: readonly string[];
}

interface Sample {
  /** Label values, in the order of the definition. */
  readonly labels: readonly string[];
  readonly value: number;
}

/** What a callback returns: one number, several with labels, or undefined if unknown. */
export type Reading = number | readonly Sample[] | undefined;

/** A histogram; observing a value costs one addition and a few comparisons. */
export class Histogram {
  sum = 0;
  /** Per bucket, not cumulative; the last is for values above every bound. */
  readonly counts: Float64Array;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
  }
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the lines of a metric's samples. */
type Render = () => string[] | Promise<string[]>;

/** Metrics by name; each is exposed once it has been requested here. */
export class Registry<Name extends string> {
  readonly #definitions: Readonly<Record<Name, MetricDefinition>>;
  readonly #rendered = new Map<Name, Render>();

  constructor(definitions: Readonly<Record<Name, MetricDefinition>>) {
    this.#definitions = definitions;
  }

  /** @param bounds upper bounds of the buckets, ascending, without +Inf */
  histogram(name: Name, bounds: readonly number[]): (...labels: readonly string[]) => Histogram {
    const { labels: names } = this.#definitions[name];
    const series = new Map<string, Histogram>();
    this.#add(name, 'histogram', () =>
      [...series].flatMap(([labels, histogram]) =>
        renderHistogram(name, labels, bounds, histogram),
      ),
    );
    return (...values) => {
      const labels = labelText(names, values);
      const histogram = series.get(labels) ?? new Histogram(bounds);
      series.set(labels, histogram);
      return histogram;
    };
  }

  /** Reads the value at each scrape; for gauges, and for counters that are kept elsewhere. */
  callback(name: Name, read: () => Reading | Promise<Reading>): void {
    const { type, labels } = this.#definitions[name];
    if (type === 'histogram') throw new Error(`${name} is a histogram.`);
    this.#add(name, type, async () => {
      const reading = await read();
      const samples = typeof reading === 'number' ? [{ labels: [], value: reading }] : reading;
      return (samples ?? []).map((sample) =>
        line(name, labelText(labels, sample.labels), sample.value),
      );
    });
  }

  /** @returns all metrics as text; omits those without samples */
  async expose(): Promise<string> {
    const parts = await Promise.all(
      [...this.#rendered].map(async ([name, render]) => {
        const lines = await render();
        const { help, type } = this.#definitions[name];
        return lines.length === 0
          ? ''
          : `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
      }),
    );
    return parts.join('');
  }

  #add(name: Name, type: MetricDefinition['type'], render: Render): void {
    if (this.#definitions[name].type !== type) throw new Error(`${name} is not a ${type}.`);
    if (this.#rendered.has(name)) throw new Error(`${name} is already registered.`);
    this.#rendered.set(name, render);
  }
}

function renderHistogram(
  name: string,
  labels: string,
  bounds: readonly number[],
  { counts, sum }: Histogram,
): string[] {
  let count = 0;
  const separator = labels === '' ? '' : ',';
  const buckets = [...bounds, Infinity].map((bound, index) => {
    count += counts[index] as number;
    return line(`${name}_bucket`, `${labels}${separator}le="${numberText(bound)}"`, count);
  });
  return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, count)];
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}\n`;
}

function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length !== values.length) throw new Error(`Expected the labels ${names.join(', ')}.`);
  return names.map((name, index) => `${name}="${escapeLabel(values[index] as string)}"`).join(',');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
