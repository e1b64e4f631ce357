import { availableParallelism } from 'node:os';
import { hasProcessFigures } from './cpu.ts';
import { print, printNotMeasured, sayNotMeasured } from './report.ts';
import { instancesSection } from './sections/instances.ts';
import { latencySection } from './sections/latency.ts';
import { limiterSection } from './sections/limiter.ts';
import { memorySection } from './sections/memory.ts';
import { operationsSection } from './sections/operations.ts';
import { pgbenchSection } from './sections/pgbench.ts';
import { milliseconds, only, rounds, subscriptions } from './settings.ts';
import { type Work, workNames, worksOf } from './works.ts';
import { openWorld } from './world.ts';

const sections = [
  operationsSection,
  pgbenchSection,
  instancesSection,
  limiterSection,
  memorySection,
  latencySection,
];

/** All of it, or what BENCH_ONLY names: sections, and the works that go into them. */
async function main(): Promise<void> {
  const sectionNames = sections.map(({ name }) => name);
  const unknown = only.filter((name) => ![...sectionNames, ...workNames].includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `BENCH_ONLY has ${unknown.join(', ')}; it takes sections (${sectionNames.join(', ')}) and operations (${workNames.join(', ')}), with commas between them.`,
    );
  }
  await using world = await openWorld();
  print(
    `${rounds} rounds of ${milliseconds} ms, taken in turn; medians. A shop of ${subscriptions} subscriptions. Node.js ${process.version}, ${availableParallelism()} cores for load, service and database together.`,
  );
  if (!hasProcessFigures) {
    sayNotMeasured('processor time and memory', 'This system has no /proc.');
  }
  const [first, ...others] = worksOf(world.shop).filter(({ name }) => isWanted(name, workNames));
  for (const section of sections.filter(({ name }) => isWanted(name, sectionNames))) {
    print(`\n${section.name}`);
    await section.measure(world, [first as Work, ...others]);
  }
  printNotMeasured();
}

/** Whether BENCH_ONLY has this name, or no name of its kind. */
function isWanted(name: string, kind: readonly string[]): boolean {
  return only.includes(name) || !kind.some((each) => only.includes(each));
}

await main();
