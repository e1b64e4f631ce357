import { beginTable, figure } from '../bench/report.ts';
import { findPostgresPrograms } from '../test/support/postgres.ts';
import { redisMissing } from '../test/support/redis.ts';
import { type Summary, runDrill } from './drill.ts';
import type { Fault } from './fault.ts';
import { companionFaults } from './table/companions.ts';
import { connectionFaults } from './table/connections.ts';
import { failovers } from './table/failover.ts';
import { instanceFaults } from './table/instances.ts';
import { lockFaults } from './table/locks.ts';
import { primaryFaults } from './table/primary.ts';
import { type Result, tryFault } from './trial.ts';
import { summarise } from './verdict.ts';
import { type World, openWorld } from './world.ts';

const faults: readonly Fault[] = [
  ...connectionFaults,
  ...primaryFaults,
  ...lockFaults(),
  ...companionFaults,
  ...instanceFaults(),
  ...failovers,
];

async function run(selected: readonly Fault[], opened: () => Promise<World>): Promise<Summary> {
  const begin = performance.now();
  const world = await opened();
  const results = await tryAll(selected, world);
  await world.traffic.end();
  await world.owner.end();
  return summarise(results, world, (performance.now() - begin) / 1000);
}

async function tryAll(selected: readonly Fault[], world: World): Promise<Result[]> {
  const row = beginTable([
    'fault',
    'answers',
    'refused',
    'recovered s',
    'slowest s',
    'writes failed',
    'writing s',
    'died',
  ]);
  const results: Result[] = [];
  for (const fault of selected) {
    const result = await tryFault(fault, world);
    results.push(result);
    row(
      result.name,
      figure(result.answers),
      figure(result.refused),
      figure(result.recoverySeconds, 1),
      figure(result.slowestSeconds, 1),
      figure(result.writesFailed),
      figure(result.writingSeconds, 1),
      figure(result.deaths.length),
    );
  }
  return results;
}

await runDrill({
  name: 'faults',
  faults,
  missing: [
    findPostgresPrograms() === undefined && 'PostgreSQL (postgres and initdb)',
    redisMissing !== false && 'Redis or Valkey',
  ].filter((each) => each !== false),
  open: openWorld,
  run,
});
