import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send, prepareTraces, spanId } from './traced.ts';

const { collector, logged, traced } = await prepareTraces();

test('the caller decides whether its trace is sampled; the sampler decides for new traces', async () => {
  const [yes, no] = ['1'.repeat(32), '2'.repeat(32)];
  const kept = async (sampler?: string, samplerArgument?: string) => {
    collector.spans.length = 0;
    await traced(
      async (world) => {
        await send(world, '/plans', { traceparent: `00-${yes}-${spanId}-01` });
        await send(world, '/plans', { traceparent: `00-${no}-${spanId}-00` });
        await send(world, '/plans');
      },
      { sampler, samplerArgument },
    );
    const names: Record<string, string> = { [yes]: 'sampled', [no]: 'not sampled' };
    const requests = collector.spans.filter(({ kind }) => kind === 2);
    return requests.map((span) => names[span.traceId] ?? 'own').join(', ');
  };
  assert.equal(await kept(), 'sampled, own');
  const inLog = logged({ msg: 'request' }).map((line) => line.traceId);
  assert.deepEqual(inLog.slice(0, 2), [yes, no]);
  assert.match(inLog[2], /^[0-9a-f]{32}$/);
  assert.equal(await kept('parentbased_always_on'), 'sampled, own');
  assert.equal(await kept('parentbased_always_off'), 'sampled');
  assert.equal(await kept('always_off'), '');
  assert.equal(await kept('always_on'), 'sampled, not sampled, own');
  assert.equal(await kept('traceidratio', '0'), '');
  assert.equal(await kept('parentbased_traceidratio', '0'), 'sampled');
  assert.equal(await kept('parentbased_traceidratio', '1'), 'sampled, own');
  assert.equal(await kept('parentbased_traceidratio', 'most'), 'sampled, own');
  assert.deepEqual(logged({ level: 'warn', msg: 'tracing problem' }), []);
  assert.equal(await kept('jaeger_remote'), 'sampled, own');
  assert.match(
    logged({ level: 'warn', msg: 'tracing problem' })[0].reason,
    /^OTEL_TRACES_SAMPLER must be one of always_on, /,
  );
});

test('honours OpenTelemetry’s environment variables', async () => {
  process.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-tenant=seven';
  process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'deployment.environment.name=test,service.name=other';
  await traced(async (world) => void (await send(world, '/plans')));
  assert.deepEqual(
    collector.requests.map(({ url, headers }) => [url, headers['x-tenant']]),
    [['/v1/traces', 'seven']],
  );
  const { resource = {} } = collector.spans[0] ?? {};
  assert.equal(resource['deployment.environment.name'], 'test');
  assert.equal(resource['service.name'], 'other');
  assert.equal(resource['service.version'], '1.0.0');

  process.env['OTEL_SERVICE_NAME'] = 'retention-eu';
  process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] = `${collector.url}/elsewhere`;
  await traced(async (world) => void (await send(world, '/plans')));
  assert.equal(collector.spans.at(-1)?.resource['service.name'], 'retention-eu');
  assert.equal(collector.requests.at(-1)?.url, '/elsewhere');
});

test('uses the service’s own name by default', async () => {
  await traced(async (world) => void (await send(world, '/plans')));
  assert.equal(collector.spans[0]?.resource['service.name'], 'retention-data-service');
});
