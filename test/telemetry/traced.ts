import { after, afterEach, beforeEach } from 'node:test';
import type { Config } from '../../src/config/config.ts';
import { createLog } from '../../src/log/log.ts';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { startCollector } from './collector.ts';

export const traceId = '0af7651916cd43dd8448eb211c80319c';
export const spanId = 'b7ad6b7169203331';
export const everything: NonNullable<Config['tracing']> = {
  sampler: undefined,
  samplerArgument: undefined,
};

/** A collector and a log for the tests of a file; both are cleared before each test. */
export async function prepareTraces() {
  const collector = await startCollector();
  const store = openAnyStore();
  const lines: string[] = [];
  const log = createLog('info', { write: (text) => void lines.push(text) });
  after(async () => {
    await store.close();
    await collector.close();
  });
  // OpenTelemetry's libraries read the environment themselves.
  beforeEach(() => {
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
    collector.spans.length = 0;
    collector.requests.length = 0;
    lines.length = 0;
  });
  afterEach(() => {
    for (const name of Object.keys(process.env)) {
      if (name.startsWith('OTEL_')) delete process.env[name];
    }
  });

  return {
    collector,
    store,
    log,
    /** Log lines, of requests or at a level. */
    logged: (which: { readonly msg?: string; readonly level?: string }) =>
      lines
        .join('')
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .filter((line) => Object.entries(which).every(([name, value]) => line[name] === value)),
    /** Runs a service with tracing, then closes it; by then the collector has received everything. */
    async traced(work: (world: World) => Promise<void>, tracing = everything): Promise<void> {
      const world = await startWorld(store, { log, telemetry: { tracing } });
      try {
        await work(world);
      } finally {
        await world.service.close();
      }
    },
  };
}

/** @returns the status */
export async function send(world: World, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${world.base}${path}`, {
    headers: { authorization: `Bearer ${world.key}`, ...headers },
  });
  await response.arrayBuffer();
  return response.status;
}
