import assert from 'node:assert/strict';
import { openClient } from './client.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { operations } from '../../src/operations/index.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { ReadConnections } from '../../src/store/connections/read-connections.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { restBody } from '../mcp/rest-equivalents.ts';
import { mcpPath, modernHeaders, modernRequest } from '../mcp/wire.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { type PostgresServer, requirePostgres } from './postgres.ts';
import { until } from './until.ts';
import { type World, importAll, startWorld } from './world.ts';

export interface Replicated {
  readonly primary: PostgresServer;
  readonly standbys: readonly PostgresServer[];
  readonly world: World<Clock>;
  readonly store: Store;
  /** Reads rows of the shop as requests do. */
  read<Found>(work: (from: ReadConnections) => Promise<Found>): Promise<Found>;
  /** Log messages about standbys: `in use`, or `left out: …`. */
  readonly said: readonly string[];
  /** The same lines, unparsed. */
  readonly lines: readonly string[];
  isInUse(standby?: number): boolean;
  /** Waits until the standby is, or is not, in use. */
  untilInUse(isInUse: boolean, standby?: number): Promise<unknown>;
  /** Waits until this is the last message; a standby left out for several reasons logs each of them. */
  untilSaid(last: string): Promise<unknown>;
  /**
   * Runs work, and repeats it if a standby was left out for lag in the meantime: on a busy machine a standby
   * is not always fresh.
   * @param work returns what it found; it must finish even if a standby is left out
   */
  whileInUse<Found>(work: () => Promise<Found>): Promise<Found>;
  close(): Promise<void>;
}

/** Messages that may appear at any time, even if everything works. */
const isAboutLag = (message: string) => /(?:in use|it lags|it cannot be compared)$/.test(message);

/** A primary with standbys that stream from it, and a service that uses them, with a running clock. */
export async function startReplicated(count: number): Promise<Replicated> {
  const primary = await requirePostgres(['fsync=off']);
  const { write, close } = connectAll(primary.url);
  await migrate(write);
  await close();
  const standbys: PostgresServer[] = [];
  for (let made = 0; made < count; made += 1) standbys.push(await primary.startReplica());

  const said: string[] = [];
  const lines: string[] = [];
  const log = createLog('info', {
    write(line) {
      const { reason, msg } = JSON.parse(line);
      lines.push(line);
      said.push(reason === undefined ? msg : `${msg}: ${reason}`);
    },
  });
  const urls = standbys.map(({ url }) => url.replace('postgres@', 'postgres:sesame@'));
  const store = connectAll(primary.url, { replication: { standbys: urls, log } });
  const world = await startWorld(store, { clock: systemClock });
  const isInUse = (standby = 0) => store.replicas[standby]?.isInUse === true;
  return {
    primary,
    standbys,
    world,
    store,
    read: (work) => store.readRecent(world.shop.id, work),
    said,
    lines,
    isInUse,
    untilInUse: (expected, standby = 0) =>
      until(
        () => isInUse(standby),
        (is) => is === expected,
      ),
    untilSaid: (last) => until(() => said.at(-1) === last),
    async whileInUse(work) {
      for (;;) {
        await until(() => standbys.every((_, standby) => isInUse(standby)));
        const told = said.length;
        const found = await work();
        const since = said.slice(told);
        if (since.length === 0 || !since.every(isAboutLag)) return found;
      }
    },
    async close() {
      await world.close();
      for (const server of [...standbys, primary]) {
        server.thaw();
        await server.destroy();
      }
    },
  };
}

/** Fills a shop so that every operation returns something. */
export async function fillShop({ world, store }: Replicated): Promise<void> {
  const { refused } = await importAll(store, world.shop, [
    plan(),
    subscription(1001),
    subscription(1002, { customerId: 502 }),
    session(71, { subscriptionId: 1001 }),
  ]);
  assert.deepEqual(refused, []);
}

const inputs: Readonly<Record<string, Record<string, unknown>>> = {
  get_entitlements: { customerId: 501 },
  get_subscription: { subscriptionId: 1001 },
};

async function mcpBody(world: World<Clock>, name: string, input: object) {
  const headers = modernHeaders('tools/call', name).map(
    (each) => each.split(': ') as [string, string],
  );
  const response = await fetch(world.service.baseUrl + mcpPath, {
    method: 'POST',
    headers: [
      ['authorization', `Bearer ${world.key}`],
      ['content-type', 'application/json'],
      ['accept', 'application/json, text/event-stream'],
      ...headers,
    ],
    body: JSON.stringify(modernRequest('tools/call', { name, arguments: input })),
  });
  return { status: response.status, text: await response.text() };
}

/** The service's response to each operation by each transport: status and body, without the instant. */
export async function callEveryOperation(world: World<Clock>): Promise<string[]> {
  const answers = await Promise.all(
    operations.flatMap(({ tool }) => {
      const input = inputs[tool] ?? {};
      return [
        restBody(world, tool, input).then(({ status, text }) => `${tool} ${status} ${text}`),
        mcpBody(world, tool, input).then(({ status, text }) => `mcp ${tool} ${status} ${text}`),
      ];
    }),
  );
  return answers.map((each) => each.replace(/generatedAt\\?":\\?"[^"]+"/g, ''));
}

/** Sends all requests repeatedly and compares the responses with the first ones. */
export async function startLoad(world: World<Clock>, clients: number) {
  const expected = await callEveryOperation(world);
  for (const answer of expected) assert.match(answer, /^(?:mcp )?\w+ 200 \{/);
  const wrong: string[] = [];
  let rounds = 0;
  const over = new AbortController();
  const client = async () => {
    while (!over.signal.aborted) {
      const answers = await callEveryOperation(world);
      wrong.push(...answers.filter((answer, index) => answer !== expected[index]));
      rounds += 1;
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    get rounds() {
      return rounds;
    },
    /** @returns the wrong responses */
    async end(): Promise<string[]> {
      over.abort();
      await running;
      return wrong;
    },
  };
}

/** Runs one or more statements on a server, on a separate connection. */
export async function onServer<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const sql = openClient(url);
  try {
    return (await sql.script(statement)) as Row[];
  } finally {
    await sql.end();
  }
}

/** The number of the service's connections on a server, by name. */
export async function countConnections(url: string): Promise<Record<string, number>> {
  const rows = await onServer<{ name: string; count: number }>(
    url,
    `select application_name as name, count(*)::int as count from pg_stat_activity
     where application_name like 'retention %' and application_name <> 'retention test' group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}
