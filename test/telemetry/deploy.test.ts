import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { metricDefinitions } from '../../src/telemetry/definitions.ts';
import { root } from '../cli/process.ts';
import { assertConventions } from './exposition.ts';

const alertsFile = path.join(root, 'deploy', 'prometheus-alerts.yaml');
const alertsText = readFileSync(alertsFile, 'utf8');
const dashboardText = readFileSync(path.join(root, 'deploy', 'grafana-dashboard.json'), 'utf8');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(dashboardText) as {
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { name: string; type: string; definition?: string }[];
  };
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

/** Parses each rule into its fields; the file has one field per line. */
const alerts = alertsText
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((rule) => {
    const [name = '', ...lines] = rule.split('\n');
    const field = (indent: number, key: string) => {
      const start = `${' '.repeat(indent)}${key}: `;
      return lines.find((line) => line.startsWith(start))?.slice(start.length);
    };
    return {
      name,
      lines: lines.filter((line) => line !== ''),
      expr: field(8, 'expr'),
      for: field(8, 'for'),
      severity: field(10, 'severity'),
      summary: field(10, 'summary'),
      runbook: field(10, 'runbook'),
    };
  });

const words = new Set(
  `absent by count group_left histogram_quantile label_values max min on rate sum`.split(' '),
);
/** Labels that Prometheus adds to every sample, and those of histogram buckets. */
const addedLabels = ['instance', 'job', 'le'];

/** The metrics and labels in a PromQL expression. */
function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const labels: string[] = [];
  const bare = expression
    .replace(/"[^"]*"/g, '""')
    .replace(/label_values\((\w+), (\w+)\)/, (_, metric, label) => {
      labels.push(label);
      return metric;
    })
    .replace(/\{([^}]*)\}/g, (_, matchers: string) => {
      labels.push(...[...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label as string));
      return '';
    })
    .replace(/\b(by|on|group_left) \(([^)]*)\)/g, (_, word, list: string) => {
      labels.push(...list.split(',').map((each) => each.trim()));
      return word;
    })
    .replace(/\[(?:\d+m|\$__rate_interval)\]/g, '')
    .replace(/\b\d+(?:\.\d+)?(?:e\d+)?\b/g, '');
  const metrics = [...bare.matchAll(/[a-zA-Z_:$][\w:]*/g)]
    .map(([word]) => word)
    .filter((word) => !words.has(word));
  return { metrics, labels: labels.filter((label) => label !== '') };
}

type Exposed = readonly [name: string, labels: readonly string[]];

/** By sample name. */
const exposed = new Map(
  Object.entries(metricDefinitions).flatMap(([name, { type, labels }]): Exposed[] =>
    type === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((end): Exposed => [name + end, labels])
      : [[name, labels] satisfies Exposed],
  ),
);

function labelsOf(metrics: readonly string[]): ReadonlySet<string> {
  return new Set([...addedLabels, ...metrics.flatMap((name) => exposed.get(name) ?? [])]);
}

function assertExposed(expression: string): void {
  const { metrics, labels } = namesIn(expression);
  assert.ok(metrics.length > 0, expression);
  const known = labelsOf(metrics);
  for (const name of metrics) assert.ok(exposed.has(name), `${name} is no metric: ${expression}`);
  for (const label of labels) assert.ok(known.has(label), `${label} is no label: ${expression}`);
}

test('every alert has everything that an on-call engineer needs', () => {
  assert.equal(alerts.length, 15);
  assert.equal(new Set(alerts.map(({ name }) => name)).size, alerts.length);
  for (const alert of alerts) {
    assert.match(alert.name, /^Retention[A-Za-z]+$/);
    assert.match(alert.expr ?? '', /^'[^']+'$/, alert.name);
    assert.match(alert.for ?? '', /^\d+m$/, alert.name);
    assert.match(alert.severity ?? '', /^(?:page|ticket)$/, alert.name);
    assert.match(alert.summary ?? '', /^'[^']{20,}\.'$/, alert.name);
    assert.match(alert.runbook ?? '', /^'[^']{60,}\.'$/, alert.name);
    // Exactly these lines, so that no field is misspelled.
    assert.equal(alert.lines.length, 7, alert.name);
  }
});

test('the alerts use only existing metrics and labels', () => {
  for (const { expr = '' } of alerts) assertExposed(expr.slice(1, -1));
  for (const { summary = '', expr = '' } of alerts) {
    const { metrics } = namesIn(expr);
    const known = labelsOf(metrics);
    for (const [, label] of summary.matchAll(/\$labels\.(\w+)/g))
      assert.ok(known.has(label as string), summary);
  }
});

test('the dashboard uses only existing metrics and labels', () => {
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(expressions.length >= 20);
  for (const expression of expressions) assertExposed(expression);
  const instances = dashboard.templating.list.find(({ name }) => name === 'instance');
  assertExposed(instances?.definition ?? '');
});

test('the dashboard lets users choose the data source', () => {
  assert.deepEqual(
    dashboard.templating.list.map(({ name, type }) => [name, type]),
    [
      ['datasource', 'datasource'],
      ['instance', 'query'],
    ],
  );
  for (const { datasource, title } of panels) assert.equal(datasource?.uid, '${datasource}', title);
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
});

test('every metric is on the dashboard', () => {
  for (const name of Object.keys(metricDefinitions)) {
    assert.ok(dashboardText.includes(name), `${name} is not on the dashboard`);
  }
});

test('metric names follow Prometheus conventions', () => {
  for (const [name, { type, labels }] of Object.entries(metricDefinitions))
    assertConventions(name, type, labels);
  assert.throws(() => assertConventions('x_delay_seconds', 'gauge', ['quantile']), /of summaries/);
  assert.throws(() => assertConventions('x_delay_ms', 'gauge', []), /derived unit/);
  assert.throws(() => assertConventions('x_requests', 'counter', []), /_total is for counters/);
});

test('detects names that do not exist', () => {
  assert.throws(() => assertExposed('sum(rate(retention_requests_total[5m]))'), /is no metric/);
  assert.throws(() => assertExposed('retention_database_up{shop="1"} == 0'), /shop is no label/);
  assert.throws(() => assertExposed('average(retention_database_up)'), /average is no metric/);
  assert.throws(() => assertExposed('retention_request_duration_seconds'), /is no metric/);
});

const checker = 'promtool';
if (spawnSync(checker, ['--version']).status === 0) {
  test('Prometheus accepts the alerts', () => {
    const { status, stdout, stderr } = spawnSync(checker, ['check', 'rules', alertsFile]);
    assert.equal(status, 0, `${String(stdout)}${String(stderr)}`);
  });
}
