import { figure, print } from '../bench/report.ts';
import { findPostgresPrograms } from '../test/support/postgres.ts';
import { redisMissing } from '../test/support/redis.ts';
import { bodies, runBodies } from './bodies/run.ts';
import { chosen, listNames } from './chosen.ts';
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

const runFaults = () =>
  runDrill({
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

interface Section {
  readonly name: string;
  readonly items: readonly { readonly name: string }[];
  run(): Promise<boolean>;
}

const sections: readonly Section[] = [
  { name: 'bodies', items: bodies, run: runBodies },
  { name: 'faults', items: faults, run: runFaults },
];

/** Runs the sections that FAULTS_ONLY names, or all; of each what the arguments choose. */
async function main(): Promise<void> {
  const only = (process.env['FAULTS_ONLY'] ?? '').split(',').filter((name) => name !== '');
  const unknown = only.filter((name) => !sections.some((section) => section.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `FAULTS_ONLY has ${unknown.join(', ')}; it takes ${sections.map(({ name }) => name).join(' and ')}.`,
    );
  }
  const requested = sections.filter(({ name }) => only.length === 0 || only.includes(name));
  const selected = requested.filter(({ items }) => chosen(items).length > 0);
  if (selected.length === 0) {
    print(
      `Nothing matches. Available: ${requested.map(({ items }) => listNames(items)).join('; ')}.`,
    );
    process.exitCode = 1;
  }
  for (const { name, run } of selected) {
    print(`\n${name}`);
    if (!(await run())) process.exitCode = 1;
  }
}

await main();
