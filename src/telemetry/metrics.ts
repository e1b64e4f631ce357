/*
 * Counters, histograms and gauges, and their text for Prometheus.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4)
 */

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence, with the unit. */
  readonly help: string;
  readonly labels: readonly string[];
}

interface Sample {
  /** The values of the labels, in the order in which the definition names them. */
  readonly labels: readonly string[];
  readonly value: number;
}

/** What a callback says at a scrape: one number, several with labels, or nothing where none is known. */
export type Reading = number | readonly Sample[] | undefined;

export interface Counter {
  value: number;
}

/** Measurements in buckets; one addition and a few comparisons each. */
export class Histogram {
  sum = 0;
  /** Of each bucket alone, not of those below it; the last is for what is above every bound. */
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

/** Gives the lines of a metric's samples. */
type Render = () => string[] | Promise<string[]>;

/** Metrics by the names of a table; each is in the text from when it is first asked for here. */
export class Registry<Name extends string> {
  readonly #definitions: Readonly<Record<Name, MetricDefinition>>;
  readonly #rendered = new Map<Name, Render>();

  constructor(definitions: Readonly<Record<Name, MetricDefinition>>) {
    this.#definitions = definitions;
  }

  /** @returns gives the counter of some values of the labels; keep it rather than ask each time */
  counter(name: Name): (...labels: readonly string[]) => Counter {
    const series = new Map<string, Counter>();
    this.#add(name, 'counter', () =>
      [...series].map(([labels, { value }]) => line(name, labels, value)),
    );
    return this.#series(name, series, () => ({ value: 0 }));
  }

  /** @param bounds the upper ends of the buckets, rising, without the infinite one */
  histogram(name: Name, bounds: readonly number[]): (...labels: readonly string[]) => Histogram {
    const series = new Map<string, Histogram>();
    this.#add(name, 'histogram', () =>
      [...series].flatMap(([labels, histogram]) =>
        renderHistogram(name, labels, bounds, histogram),
      ),
    );
    return this.#series(name, series, () => new Histogram(bounds));
  }

  /** Asks for the value at each scrape; for gauges, and for counters that others keep. */
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

  /** @returns the text of everything; of what has no sample, nothing */
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
    if (this.#definitions[name].type !== type) throw new Error(`${name} is no ${type}.`);
    if (this.#rendered.has(name)) throw new Error(`${name} is there already.`);
    this.#rendered.set(name, render);
  }

  #series<Series>(
    name: Name,
    series: Map<string, Series>,
    make: () => Series,
  ): (...labels: readonly string[]) => Series {
    return (...values) => {
      const labels = labelText(this.#definitions[name].labels, values);
      const held = series.get(labels);
      if (held) return held;
      const made = make();
      series.set(labels, made);
      return made;
    };
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
  if (names.length !== values.length) throw new Error(`The labels are ${names.join(', ')}.`);
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
