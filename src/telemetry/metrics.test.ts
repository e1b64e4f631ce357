import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExposition, valueOf } from '../../test/telemetry/exposition.ts';
import { Registry } from './metrics.ts';

const definitions = {
  asked_total: { type: 'counter', help: 'How often.', labels: ['who'] },
  took_seconds: { type: 'histogram', help: 'How long.', labels: ['who'] },
  size_bytes: { type: 'histogram', help: 'How much.', labels: [] },
  level: { type: 'gauge', help: 'A back\\slash and\na "line".', labels: ['where', 'what'] },
  depth: { type: 'gauge', help: 'How deep.', labels: [] },
} as const;

const createRegistry = () => new Registry<keyof typeof definitions>(definitions);

test('a counter has one line per label value, in Prometheus format', async () => {
  const registry = createRegistry();
  registry.callback('asked_total', () => [
    { labels: ['a'], value: 3 },
    { labels: ['b'], value: 1 },
  ]);
  assert.equal(
    await registry.expose(),
    '# HELP asked_total How often.\n# TYPE asked_total counter\n' +
      'asked_total{who="a"} 3\nasked_total{who="b"} 1\n',
  );
});

test('a histogram counts a value in the first bucket whose bound it does not exceed', async () => {
  const registry = createRegistry();
  const histogram = registry.histogram('size_bytes', [1, 2.5, 1000])();
  for (const value of [0, 1, 1.5, 2.5, 999, 1000.5, 1e9]) histogram.observe(value);
  assert.equal(
    await registry.expose(),
    '# HELP size_bytes How much.\n# TYPE size_bytes histogram\n' +
      'size_bytes_bucket{le="1"} 2\nsize_bytes_bucket{le="2.5"} 4\n' +
      'size_bytes_bucket{le="1000"} 5\nsize_bytes_bucket{le="+Inf"} 7\n' +
      'size_bytes_sum 1000002004.5\nsize_bytes_count 7\n',
  );
});

test('a histogram’s bound follows its labels', async () => {
  const registry = createRegistry();
  const series = registry.histogram('took_seconds', [0.5]);
  series('a').observe(0.25);
  series('b').observe(4);
  series('a').observe(0.5);
  assert.match(await registry.expose(), /^took_seconds_bucket\{who="a",le="0.5"\} 2$/m);
  const parsed = parseExposition(await registry.expose());
  assert.equal(valueOf(parsed, 'took_seconds_sum', { who: 'a' }), 0.75);
  assert.equal(valueOf(parsed, 'took_seconds_bucket', { who: 'b', le: '0.5' }), 0);
  assert.equal(valueOf(parsed, 'took_seconds_count', { who: 'b' }), 1);
});

test('escapes labels and help texts', async () => {
  const registry = createRegistry();
  const awkward = 'a"b\\c\nd{e="f"} 1\\n,';
  registry.callback('level', () => [{ labels: [awkward, 'é'], value: 1 }]);
  const text = await registry.expose();
  assert.match(text, /^# HELP level A back\\\\slash and\\na "line"\.$/m);
  const family = parseExposition(text).get('level');
  assert.deepEqual(family?.samples, [
    { name: 'level', labels: { where: awkward, what: 'é' }, value: 1 },
  ]);
});

test('formats special numbers as Prometheus does', async () => {
  const registry = createRegistry();
  const values = [Infinity, -Infinity, NaN, 0, -1.5, 1e21, 5e-7];
  registry.callback('level', () =>
    values.map((value, index) => ({ labels: ['x', String(index)], value })),
  );
  const text = await registry.expose();
  assert.deepEqual(
    [...text.matchAll(/\} (\S+)$/gm)].map(([, value]) => value),
    ['+Inf', '-Inf', 'NaN', '0', '-1.5', '1e+21', '5e-7'],
  );
  const { samples = [] } = parseExposition(text).get('level') ?? {};
  assert.deepEqual(
    samples.map(({ value }) => value),
    values,
  );
});

test('omits metrics without samples and reads them again at the next scrape', async () => {
  const registry = createRegistry();
  let depth: number | undefined;
  registry.histogram('took_seconds', [1]);
  registry.callback('level', () => []);
  registry.callback('depth', async () => depth);
  assert.equal(await registry.expose(), '');
  depth = 7;
  assert.equal(await registry.expose(), '# HELP depth How deep.\n# TYPE depth gauge\ndepth 7\n');
});

test('checks type, uniqueness and labels of metrics', async () => {
  const registry = createRegistry();
  assert.throws(() => registry.histogram('depth', [1]), /depth is not a histogram/);
  assert.throws(() => registry.callback('took_seconds', () => 1), /is a histogram/);
  registry.callback('depth', () => 1);
  assert.throws(() => registry.callback('depth', () => 1), /already registered/);
  const took = registry.histogram('took_seconds', [1]);
  assert.throws(() => took('a', 'b'), /Expected the labels who/);
  registry.callback('level', () => 1);
  await assert.rejects(registry.expose(), /Expected the labels where, what/);
});
