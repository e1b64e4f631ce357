import { availableParallelism } from 'node:os';
import { runThreads } from '../load-threads.ts';
import { beginTable, figure, printNotMeasured } from '../report.ts';
import { type Sample, alternate, medianOf, ratioOf, sampleLoad } from '../sample.ts';
import { cores, milliseconds } from '../settings.ts';
import type { Section } from './section.ts';

/** As many for the load as for the workers, and one for the database. */
const coresFor = (workers: number) => 2 * workers + 1;

/** How throughput grows with `serve --workers`, as far as there are cores. */
export const workersSection: Section = {
  name: 'workers',
  async measure(world, [workload]) {
    const { redisUrl, shop, databasePid: database } = world;
    if (redisUrl === undefined) {
      printNotMeasured('several workers', 'There is no Redis, which they need.');
      return;
    }
    const counts = [1, 2, 4, 8, 16, 32];
    const measured = counts.filter((count) => count === 1 || coresFor(count) <= cores);
    await using services = new AsyncDisposableStack();
    const contestants: Record<string, () => Promise<Sample>> = {};
    for (const count of measured) {
      const { pid, port } = services.use(await world.startWarm({ redisUrl, workers: count }));
      const load = { operation: workload.name, shop, port, milliseconds };
      contestants[`--workers ${count}`] = () =>
        sampleLoad(() => runThreads(count, load), { service: [pid], database });
    }
    const results = await alternate(contestants);
    const row = beginTable([
      `${workload.name} REST`,
      'of one',
      'requests/s',
      'CPU µs: service',
      'database',
      'p50 ms',
      'p99 ms',
    ]);
    const [one = []] = Object.values(results);
    for (const [name, samples] of Object.entries(results)) {
      row(
        name,
        figure(ratioOf(samples, one), 3),
        figure(medianOf(samples, 'perSecond')),
        figure(medianOf(samples, 'serviceCpu'), 1),
        figure(medianOf(samples, 'databaseCpu'), 1),
        figure(medianOf(samples, 'p50'), 2),
        figure(medianOf(samples, 'p99'), 2),
      );
    }
    const next = counts[measured.length];
    if (next !== undefined) {
      printNotMeasured(
        `serve --workers ${next}`,
        `It needs ${coresFor(next)} cores: ${next} for workers, ${next} for the load, 1 for the database. This machine has ${availableParallelism()}; BENCH_CORES=${coresFor(next)} measures it regardless.`,
      );
    }
  },
};
