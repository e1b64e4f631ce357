import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';

const parse = (env: Readonly<Record<string, string | undefined>>) => parseConfig(env);

const somewhere = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' };
const tracing: [what: string, env: Record<string, string>, isOn: boolean][] = [
  ['an endpoint', somewhere, true],
  ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://h/v1/traces' }, true],
  ['an endpoint for metrics', { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://h/v1/m' }, false],
  ['the exporter otlp', { ...somewhere, OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ['the exporter none', { ...somewhere, OTEL_TRACES_EXPORTER: 'none' }, false],
  ['the SDK disabled', { ...somewhere, OTEL_SDK_DISABLED: 'True' }, false],
  ['the SDK not disabled', { ...somewhere, OTEL_SDK_DISABLED: 'false' }, true],
  ['a sampler alone', { OTEL_TRACES_SAMPLER: 'always_on' }, false],
];
for (const [what, env, isOn] of tracing) {
  test(`${what}: ${isOn ? 'traces' : 'no traces'}`, () => {
    const expected = { sampler: undefined, samplerArgument: undefined };
    assert.deepEqual(parse(env).tracing, isOn ? expected : undefined);
  });
}
