import { figure } from '../bench/report.ts';
import { findPostgresPrograms } from '../test/support/postgres.ts';
import { redisMissing } from '../test/support/redis.ts';
import { runDrill } from './drill.ts';
import type { Fault } from './fault.ts';
import { companionFaults } from './table/companions.ts';
import { connectionFaults } from './table/connections.ts';
import { failovers } from './table/failover.ts';
import { instanceFaults } from './table/instances.ts';
import { lockFaults } from './table/locks.ts';
import { primaryFaults } from './table/primary.ts';
import { type Result, tryFault } from './trial.ts';
import { openWorld } from './world.ts';

const faults: readonly Fault[] = [
  ...connectionFaults,
  ...primaryFaults,
  ...lockFaults(),
  ...companionFaults,
  ...instanceFaults(),
  ...failovers,
];

await runDrill({
  name: 'faults',
  noun: 'fault',
  faults,
  columns: {
    answers: (result: Result) => figure(result.answers),
    refused: (result) => figure(result.refused),
    'recovered s': (result) => figure(result.recoverySeconds, 1),
    'slowest s': (result) => figure(result.slowestSeconds, 1),
    'writes failed': (result) => figure(result.writesFailed),
    'writing s': (result) => figure(result.writingSeconds, 1),
    died: (result) => figure(result.deaths.length),
  },
  missing: [
    findPostgresPrograms() === undefined && 'PostgreSQL (postgres and initdb)',
    redisMissing !== false && 'Redis or Valkey',
  ].filter((each) => each !== false),
  open: openWorld,
  tryOne: tryFault,
});
