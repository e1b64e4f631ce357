import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callModern, legacyRequest, post } from '../mcp/wire.ts';
import { bearer, exchange } from '../rest/raw.ts';
import { openOwnStore, startWorld } from '../support/world.ts';
import { send, everything, prepareTraces, spanId, traceId } from './traced.ts';

const { collector, store, log, logged, traced } = await prepareTraces();

test('a request is a span of its caller’s trace, with a child span for the operation', async () => {
  let shopId = 0;
  let keyId = '';
  await traced(async (world) => {
    [shopId, keyId] = [world.shop.id, world.keyId];
    const headers = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'a=1,b=2' };
    assert.equal(await send(world, '/plans', headers), 200);
  });
  assert.equal(collector.spans.length, 2);
  const [work, request] = collector.spans;
  assert.ok(request && work);
  assert.equal(request.name, 'GET /api/external/v1/plans');
  assert.equal(request.traceId, traceId);
  assert.equal(request.parentSpanId, spanId);
  assert.equal(request.traceState, 'a=1,b=2');
  assert.equal(request.kind, 2);
  assert.deepEqual(request.attributes, {
    'http.request.method': 'GET',
    'http.route': '/api/external/v1/plans',
    'url.scheme': 'http',
    'http.response.status_code': 200,
    'retention.operation': 'list_plans',
    'retention.shop_id': shopId,
    'retention.key_id': keyId,
  });
  assert.deepEqual(
    [work.name, work.traceId, work.parentSpanId, work.kind],
    ['list_plans', traceId, request.spanId, 1],
  );
  assert.deepEqual(
    logged({ msg: 'request' }).map((line) => [line.operation, line.traceId]),
    [['list_plans', traceId]],
  );
});

test('starts a trace if the caller has none, and logs its id', async () => {
  await traced(async (world) => {
    assert.equal(await send(world, '/subscriptions'), 200);
    assert.equal(await send(world, '/subscriptions/1'), 404);
    assert.equal(await send(world, '/nothing'), 404);
  });
  const requests = collector.spans.filter(({ kind }) => kind === 2);
  assert.deepEqual(
    requests.map(({ name, parentSpanId, attributes, status }) => [
      name,
      parentSpanId,
      attributes['http.response.status_code'],
      status,
    ]),
    [
      ['GET /api/external/v1/subscriptions', undefined, 200, 0],
      ['GET /api/external/v1/subscriptions/:id', undefined, 404, 0],
      ['GET', undefined, 404, 0],
    ],
  );
  assert.equal(new Set(requests.map((span) => span.traceId)).size, 3);
  assert.deepEqual(
    logged({ msg: 'request' }).map((line) => line.traceId),
    requests.map((span) => span.traceId),
  );
  const refused = collector.spans.find(({ name }) => name === 'get_subscription');
  assert.deepEqual([refused?.status, refused?.attributes], [0, {}]);
});

test('names MCP spans by method and tool', async () => {
  await traced(async (world) => {
    await callModern(world, 'list_plans');
    await post(world, legacyRequest('tools/list'));
    await post(world, legacyRequest('secrets/list'));
    await post(world, '{');
  });
  const requests = collector.spans.filter(({ kind }) => kind === 2);
  assert.deepEqual(
    requests.map(({ name, attributes }) => [name, attributes['http.route']]),
    [
      ['tools/call list_plans', '/api/mcp'],
      ['tools/list', '/api/mcp'],
      ['unknown method', '/api/mcp'],
      ['POST /api/mcp', '/api/mcp'],
    ],
  );
  const work = collector.spans.find(({ kind }) => kind === 1);
  assert.deepEqual([work?.name, work?.parentSpanId], ['list_plans', requests[0]?.spanId]);
});

test('ignores an invalid header', async () => {
  await traced(async (world) => {
    for (const traceparent of ['', 'x', `00-${traceId}-${spanId}`, `ff-${traceId}-${spanId}-01`]) {
      assert.equal(await send(world, '/plans', { traceparent, tracestate: '=;,\t' }), 200);
    }
  });
  const requests = collector.spans.filter(({ kind }) => kind === 2);
  assert.equal(requests.length, 4);
  for (const span of requests) {
    assert.notEqual(span.traceId, traceId);
    assert.equal(span.parentSpanId, undefined);
  }
});

test('spans contain no key, query, path or other caller input', async () => {
  const marker = 'w3ird';
  const before = collector.text().length;
  let key = '';
  await traced(async (world) => {
    key = world.key;
    await send(world, `/plans?${marker}=${marker}`);
    await send(world, `/subscriptions/${marker}`);
    await send(world, `/subscriptions?cursor=${marker}`);
    await send(world, `/${marker}`);
    await send(world, '/plans', { authorization: `Bearer rtn_${marker}`, 'user-agent': marker });
    await post(
      world,
      legacyRequest('tools/call', { name: marker, arguments: { [marker]: marker } }),
    );
    await post(world, legacyRequest(marker));
    await callModern(world, 'list_plans', { [marker]: marker });
    await exchange(
      world.service.baseUrl,
      `PROPFIND /${marker} HTTP/1.1\r\nhost: ${marker}\r\n${bearer(key)}\r\nconnection: close\r\n\r\n`,
    );
  });
  assert.ok(collector.spans.length >= 9);
  assert.ok(collector.text().length > before);
  assert.ok(!collector.text().includes(marker, before));
  assert.ok(!collector.text().includes(key, before));
  const unknownMethod = collector.spans.find(
    ({ attributes }) => attributes['http.request.method'] === '_OTHER',
  );
  assert.equal(unknownMethod?.name, 'HTTP');
});

test('marks the span of an internal failure, with only the error’s name', async () => {
  const own = openOwnStore();
  const world = await startWorld(own, { log, telemetry: { tracing: everything } });
  await send(world, '/plans');
  await own.close();
  assert.equal(await send(world, '/plans'), 500);
  await world.service.close();
  const [work, request] = collector.spans.slice(-2);
  assert.equal(request?.status, 2);
  assert.equal(request?.attributes['error.type'], '500');
  assert.deepEqual([work?.status, work?.attributes], [2, { 'error.type': 'Error' }]);
});

test('an unavailable collector affects no request and logs one line', async () => {
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = 'http://user:sesame@127.0.0.1:1';
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500';
  await traced(async (world) => {
    for (let each = 0; each < 600; each += 1) assert.equal(await send(world, '/plans'), 200);
  });
  // A busy machine may have other warnings.
  const warnings = logged({ level: 'warn', msg: 'tracing problem' });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0].reason, /ECONNREFUSED/);
  assert.doesNotMatch(JSON.stringify(logged({})), /sesame/);
});

test('logs the caller’s trace id even without tracing', async () => {
  const world = await startWorld(store, { log });
  try {
    await send(world, '/plans', { traceparent: `00-${traceId}-${spanId}-00` });
    await send(world, '/nothing', { traceparent: `00-${traceId}-${spanId}-01` });
    await send(world, '/plans', { traceparent: `00-${traceId}"-${spanId}-01` });
    await send(world, '/plans');
  } finally {
    await world.service.close();
  }
  assert.deepEqual(
    logged({ msg: 'request' }).map((line) => line.traceId),
    [traceId, traceId, undefined, undefined],
  );
  assert.equal(collector.requests.length, 0);
});
