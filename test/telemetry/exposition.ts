import assert from 'node:assert/strict';

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ParsedSample[];
}

const nameForm = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const labelNameForm = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
const numberForm = /^(?:[+-]Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/;

/**
 * Parses text format 0.0.4 more strictly than Prometheus: every family has HELP, then TYPE, then its samples
 * together; nothing is duplicated, and histograms are consistent.
 */
export function parseExposition(text: string): Map<string, Family> {
  assert.ok(text.endsWith('\n'), 'the last line is not terminated');
  const lines = text.slice(0, -1).split('\n');
  const families = new Map<string, Family>();
  const seen = new Set<string>();

  for (let index = 0; index < lines.length;) {
    const [, name = '', help = ''] = /^# HELP (\S+) (.+)$/.exec(lines[index] ?? '') ?? [];
    assert.match(name, nameForm, `line ${index + 1} is no HELP: ${lines[index]}`);
    assert.doesNotMatch(help, /(?<!\\)(?:\\\\)*\\(?![\\n])/, 'an unknown escape');
    const [, typed, type = ''] = /^# TYPE (\S+) (\S+)$/.exec(lines[index + 1] ?? '') ?? [];
    assert.equal(typed, name, `no TYPE after the HELP of ${name}`);
    assert.match(type, /^(?:counter|gauge|histogram)$/);
    assert.ok(!families.has(name), `${name} appears twice`);
    const samples: ParsedSample[] = [];
    for (index += 2; index < lines.length && !lines[index]?.startsWith('#'); index += 1) {
      const sample = parseSample(lines[index] ?? '');
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
      assert.ok(!seen.has(key), `twice: ${key}`);
      seen.add(key);
      samples.push(sample);
    }
    assert.ok(samples.length > 0, `${name} has no sample`);
    const family = { name, type, help, samples };
    assertType(family);
    families.set(name, family);
  }
  return families;
}

function parseSample(line: string): ParsedSample {
  const [name = ''] = nameForm.exec(line) ?? [];
  assert.notEqual(name, '', `no sample: ${line}`);
  let rest = line.slice(name.length);
  const labels: Record<string, string> = {};
  if (rest.startsWith('{')) {
    rest = rest.slice(1);
    while (!rest.startsWith('}')) {
      const [whole = '', label = '', value = ''] =
        /^([^=,{}"]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?!\})|(?=\}))/.exec(rest) ?? [];
      assert.notEqual(whole, '', `no label: ${line}`);
      assert.match(label, labelNameForm);
      assert.ok(!(label in labels), `the label ${label} twice: ${line}`);
      labels[label] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
      rest = rest.slice(whole.length);
    }
    rest = rest.slice(1);
  }
  const [, number = ''] = /^ (\S+)$/.exec(rest) ?? [];
  assert.match(number, numberForm, `no value: ${line}`);
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) };
}

/** Units and types in metric names: Prometheus uses base units, and the TYPE line. */
const misplacedWord =
  /(?:^|_)(?:ms|millis|milliseconds|us|microseconds|minutes|hours|days|kb|kilobytes|mb|megabytes|gb|gigabytes|percent|counter|gauge|histogram|summary)(?:_|$)/;

/** The rules of `promtool check metrics`. */
export function assertConventions(name: string, type: string, labels: readonly string[]): void {
  assert.match(name, /^[a-z][a-z0-9_]*$/, `${name} is not in snake_case`);
  assert.doesNotMatch(name, misplacedWord, `${name} names a type or a derived unit`);
  assert.equal(name.endsWith('_total'), type === 'counter', `${name}: _total is for counters`);
  assert.doesNotMatch(name, /_(?:bucket|sum|count)$/, `${name} looks like a part of a histogram`);
  for (const label of labels) {
    assert.match(label, /^[a-z][a-z0-9_]*$/, `${label} of ${name} is not in snake_case`);
    assert.notEqual(label, 'quantile', `${name}: quantile is a label of summaries`);
    assert.ok(label !== 'le' || type === 'histogram', `${name}: le is a label of histograms`);
  }
}

function assertType(family: Family): void {
  const labels = family.samples.flatMap((sample) => Object.keys(sample.labels));
  assertConventions(family.name, family.type, [...new Set(labels)]);
  if (family.type === 'histogram') return assertHistogram(family);
  for (const { name, value } of family.samples) {
    assert.equal(name, family.name);
    if (family.type === 'counter') assert.ok(value >= 0);
  }
}

function assertHistogram({ name, samples }: Family): void {
  const series = Map.groupBy(samples, ({ labels }) => JSON.stringify({ ...labels, le: undefined }));
  for (const each of series.values()) {
    const buckets = each.slice(0, -2);
    const [sum, count] = each.slice(-2);
    assert.deepEqual([sum?.name, count?.name], [`${name}_sum`, `${name}_count`]);
    assert.ok(sum && count && !('le' in sum.labels) && !('le' in count.labels));
    let [bound, below] = [-Infinity, 0];
    for (const { name: bucket, labels, value } of buckets) {
      assert.equal(bucket, `${name}_bucket`);
      const le = Number(labels['le']?.replace('Inf', 'Infinity'));
      assert.ok(le > bound, 'the bounds rise');
      assert.ok(value >= below, 'buckets are cumulative');
      [bound, below] = [le, value];
    }
    assert.equal(bound, Infinity);
    assert.equal(below, count.value);
    assert.ok(Number.isInteger(count.value));
  }
}

/** The value of the sample with this name and these labels; undefined if there is none. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  assert.ok(found.length <= 1, `${name} ${JSON.stringify(labels)} is not one sample`);
  return found[0]?.value;
}
