import { availableParallelism } from 'node:os';
import { hasProcessFigures } from './cpu.ts';
import { print, printMissing, printNotMeasured } from './report.ts';
import { instancesSection } from './sections/instances.ts';
import { latencySection } from './sections/latency.ts';
import { limiterSection } from './sections/limiter.ts';
import { memorySection } from './sections/memory.ts';
import { operationsSection } from './sections/operations.ts';
import { pgbenchSection } from './sections/pgbench.ts';
import { startSection } from './sections/start.ts';
import { workersSection } from './sections/workers.ts';
import { milliseconds, only, rounds, subscriptions } from './settings.ts';
import { type Workload, workloadNames, workloadsOf } from './workloads.ts';
import { openWorld } from './world.ts';

const sections = [
  operationsSection,
  pgbenchSection,
  instancesSection,
  limiterSection,
  memorySection,
  latencySection,
  startSection,
  workersSection,
];

/** Runs all sections, or the sections and operations that BENCH_ONLY names. */
async function main(): Promise<void> {
  const sectionNames = sections.map(({ name }) => name);
  const unknown = only.filter((name) => ![...sectionNames, ...workloadNames].includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `BENCH_ONLY has ${unknown.join(', ')}; it takes sections (${sectionNames.join(', ')}) and operations (${workloadNames.join(', ')}), separated by commas.`,
    );
  }
  await using world = await openWorld();
  print(
    `${rounds} rounds of ${milliseconds} ms, alternating; medians. A shop of ${subscriptions} subscriptions. Node.js ${process.version}, ${availableParallelism()} cores shared by load, service and database.`,
  );
  if (!hasProcessFigures) {
    printNotMeasured('processor time and memory', 'This system has no /proc.');
  }
  const [first, ...others] = workloadsOf(world.shop).filter(({ name }) =>
    isRequested(name, workloadNames),
  );
  for (const section of sections.filter(({ name }) => isRequested(name, sectionNames))) {
    print(`\n${section.name}`);
    await section.measure(world, [first as Workload, ...others]);
  }
  printMissing();
}

/** Whether BENCH_ONLY has this name, or no name of this kind. */
function isRequested(name: string, kind: readonly string[]): boolean {
  return only.includes(name) || !kind.some((each) => only.includes(each));
}

await main();
