import { startPostgres } from '../test/support/postgres.ts';
import { cpuMicroseconds, residentMegabytes } from './cpu.ts';
import { type Target, median, runLoad } from './load.ts';
import {
  type ServerProcess,
  importDemoShop,
  run,
  startConstant,
  startService,
} from './processes.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const milliseconds = Number(process.env['BENCH_MILLISECONDS'] ?? 2000);
/** Until the engine has compiled what is hot; a cold service is half as fast. */
const warmUpMilliseconds = 6000;
const subscriptions = Number(process.env['BENCH_SUBSCRIPTIONS'] ?? 20_000);
const shopId = 1;
const firstCustomer = 501;

interface Work {
  readonly name: string;
  /** The path of the next request. */
  path(): string;
}

/** What is measured: each against a bare server that answers the same bytes. */
const works: readonly Work[] = [
  {
    name: 'entitlement',
    path: () =>
      `/entitlements?customerId=${firstCustomer + Math.floor(Math.random() * subscriptions * 0.8)}`,
  },
  { name: 'page of 50', path: () => '/subscriptions' },
  { name: 'list of plans', path: () => '/plans' },
  { name: 'metrics summary', path: () => '/metrics/summary' },
];

interface Sample {
  readonly perSecond: number;
  readonly serviceCpu: number;
  readonly databaseCpu: number;
  readonly p50: number;
  readonly p99: number;
}

const print = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const postgres = await startPostgres(['fsync=off', 'shared_buffers=512MB']);
  if (!postgres) throw new Error('PostgreSQL is not installed.');
  const env = { DATABASE_URL: postgres.url, LOG_LEVEL: 'info' };
  run(['migrate'], env);
  run(
    [
      'shops',
      'create',
      '--id',
      String(shopId),
      '--name',
      'Bench',
      '--currency',
      'USD',
      '--tier',
      'enterprise_plus',
    ],
    env,
  );
  importDemoShop(shopId, subscriptions, { ...env, LOG_LEVEL: 'error' });
  const scopes = 'read:entitlements,read:subscriptions,read:metrics,read:plans';
  const created = run(
    ['keys', 'create', '--shop', String(shopId), '--name', 'bench', '--scopes', scopes, '--json'],
    env,
  );
  const { key } = JSON.parse(created) as { key: string };
  const service = await startService(env);

  try {
    print(
      `${rounds} rounds of ${milliseconds} ms, alternately; medians. Node.js ${process.version}.`,
    );
    print(`Memory of the service at rest: ${residentMegabytes(service.pid).toFixed(0)} MB.`);
    print('');
    print(
      'work              ratio to bare   requests/s   bare/s   CPU µs: service  bare  database   p50 ms  p99 ms',
    );
    const only = process.env['BENCH_ONLY'];
    for (const work of works.filter(({ name }) => only === undefined || name === only))
      await compare(work, service, postgres.pid, key);
    print('');
    const ratio = await compareFaces(service, key);
    print(`tools/call list_plans over MCP: ${ratio.toFixed(3)} of GET /plans over REST.`);
    print('');
    print(`Memory of the service after the load: ${residentMegabytes(service.pid).toFixed(0)} MB.`);
  } finally {
    await service.stop();
    await postgres.destroy();
  }
}

async function compare(
  work: Work,
  service: ServerProcess,
  databasePid: number,
  key: string,
): Promise<void> {
  const ask = () =>
    `GET /api/external/v1${work.path()} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n\r\n`;
  const answer = await fetch(`http://127.0.0.1:${service.port}/api/external/v1${work.path()}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const bare = await startConstant(answer);
  try {
    const ours: Sample[] = [];
    const theirs: Sample[] = [];
    await runLoad({ port: bare.port, request: ask }, warmUpMilliseconds / 3);
    await runLoad({ port: service.port, request: ask }, warmUpMilliseconds);
    for (let round = 0; round < rounds; round += 1) {
      const reference = await sample({ port: bare.port, request: ask }, bare.pid, 0);
      const measured = await sample({ port: service.port, request: ask }, service.pid, databasePid);
      theirs.push(reference);
      ours.push(measured);
    }
    const ratio = median(
      ours.map((each, index) => each.perSecond / (theirs[index] as Sample).perSecond),
    );
    const of = (samples: Sample[], field: keyof Sample) =>
      median(samples.map((each) => each[field]));
    print(
      [
        work.name.padEnd(17),
        ratio.toFixed(3).padStart(13),
        of(ours, 'perSecond').toFixed(0).padStart(13),
        of(theirs, 'perSecond').toFixed(0).padStart(9),
        of(ours, 'serviceCpu').toFixed(1).padStart(17),
        of(theirs, 'serviceCpu').toFixed(1).padStart(6),
        of(ours, 'databaseCpu').toFixed(1).padStart(9),
        of(ours, 'p50').toFixed(2).padStart(9),
        of(ours, 'p99').toFixed(2).padStart(8),
      ].join(''),
    );
  } finally {
    await bare.stop();
  }
}

/** Throughput of one operation over MCP, as a share of the same over REST, on the same server. */
async function compareFaces({ port, pid }: ServerProcess, key: string): Promise<number> {
  const authorization = `host: localhost\r\nauthorization: Bearer ${key}\r\n`;
  const call = { name: 'list_plans', arguments: {} };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  const json = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
  const rest = {
    port,
    request: () => `GET /api/external/v1/plans HTTP/1.1\r\n${authorization}\r\n`,
  };
  const mcp = {
    port,
    request: () => `POST /api/mcp HTTP/1.1\r\n${authorization}${json}\r\n${body}`,
  };
  await runLoad(mcp, warmUpMilliseconds);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const reference = await sample(rest, pid, 0);
    ratios.push((await sample(mcp, pid, 0)).perSecond / reference.perSecond);
  }
  return median(ratios);
}

async function sample(target: Target, servicePid: number, databasePid: number): Promise<Sample> {
  const serviceBefore = cpuMicroseconds(servicePid);
  const databaseBefore = databasePid === 0 ? 0 : cpuMicroseconds(databasePid);
  const { requests, seconds, latencies } = await runLoad(target, milliseconds);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return {
    perSecond: requests / seconds,
    serviceCpu: (cpuMicroseconds(servicePid) - serviceBefore) / requests,
    databaseCpu: databasePid === 0 ? 0 : (cpuMicroseconds(databasePid) - databaseBefore) / requests,
    p50: at(0.5),
    p99: at(0.99),
  };
}

await main();
