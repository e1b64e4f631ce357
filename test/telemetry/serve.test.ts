import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { launchServer, runProcess } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { startCollector } from './collector.ts';
import { parseExposition, valueOf } from './exposition.ts';

const closers: (() => void)[] = [];
after(() => {
  for (const close of closers) close();
});

/** A port where something listens and never responds. */
async function takenPort(): Promise<number> {
  const server = createServer((socket) => {
    closers.push(() => socket.destroy());
    socket.on('error', () => {}).resume();
  }).listen(0, '127.0.0.1');
  closers.push(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  return address.port;
}

function logged(err: string, message: string) {
  return err
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === message);
}

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('the telemetry of serve', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  before(async () => {
    database = await requirePostgres(['fsync=off']);
  });
  after(() => database.destroy());

  const environment = () => ({ DATABASE_URL: database.url, LOG_LEVEL: 'info' });

  test('serve logs the metrics address, and prints nothing more on standard output', async () => {
    const server = await launchServer('serve', {
      ...environment(),
      HOST: '0.0.0.0',
      METRICS_PORT: '0',
    });
    await fetch(`${server.baseUrl}/healthz`);
    const [line] = await server.logged(/^\{.*"msg":"listening"\}$/m);
    const { metricsUrl } = JSON.parse(line) as { metricsUrl: string };
    // On the loopback interface, wherever the public port listens.
    assert.match(metricsUrl, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const families = parseExposition(await (await fetch(metricsUrl)).text());
    const labels = { transport: 'other', operation: 'none', status: '200' };
    assert.equal(valueOf(families, 'retention_request_duration_seconds_count', labels), 1);

    server.child.kill('SIGTERM');
    const { code, out } = await server.ended;
    assert.deepEqual([code, out], [0, `Retention Data Service listens on ${server.baseUrl}\n`]);
    await assert.rejects(fetch(metricsUrl), /fetch failed/);
  });

  test('listens on METRICS_HOST, and names it if that fails', async () => {
    const env = {
      ...environment(),
      LOG_LEVEL: 'silent',
      PORT: '0',
      METRICS_PORT: '9464',
      // Reserved for documentation: no machine has it.
      METRICS_HOST: '192.0.2.1',
    };
    const { code, out, err } = await runProcess(['serve'], { env });
    assert.deepEqual([code, out], [1, '']);
    assert.match(
      err,
      /^retention: Cannot listen on 192\.0\.2\.1:9464: .*\. Choose another METRICS_HOST or METRICS_PORT\.\n$/,
    );
  });

  test('serve sends remaining spans before it exits', async () => {
    const collector = await startCollector();
    const env = { ...environment(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const server = await launchServer('serve', env);
    await fetch(`${server.baseUrl}/healthz`);
    server.child.kill('SIGTERM');
    const { code, err } = await server.ended;
    await collector.close();
    assert.equal(code, 0);
    assert.deepEqual(
      collector.spans.map(({ name }) => name),
      ['GET /healthz'],
    );
    const [{ traceId }] = logged(err, 'request');
    assert.equal(collector.spans[0]?.traceId, traceId);
  });

  test('exits even if the collector does not respond', async () => {
    const server = await launchServer('serve', {
      ...environment(),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await takenPort()}`,
      // The exporter's full timeout, longer than this test may take.
      OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
    });
    assert.equal((await fetch(`${server.baseUrl}/healthz`)).status, 200);
    server.child.kill('SIGTERM');
    const { code, signal } = await server.ended;
    assert.deepEqual([code, signal], [0, null]);
  });
});
