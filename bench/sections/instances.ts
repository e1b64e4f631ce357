import { availableParallelism } from 'node:os';
import type { ServerProcess } from '../processes.ts';
import { beginTable, figure, printNotMeasured } from '../report.ts';
import { type Sample, alternate, medianOf, ratioOf, sample } from '../sample.ts';
import { targetOf, workloadIn } from '../workloads.ts';
import type { Section } from './section.ts';

/** One each for load, database and two instances. */
const coresNeeded = 4;

/** One process against two; each request counts against the limit of its key. */
export const instancesSection: Section = {
  name: 'instances',
  async measure(world, workloads) {
    const { redisUrl } = world;
    const workload = workloadIn(world.limited, workloads[0]);
    const turn = (services: readonly ServerProcess[]) => () =>
      sample(
        {
          ...targetOf(
            workload,
            'REST',
            services.map(({ port }) => port),
            world.limitedKey,
          ),
          refusals: [429],
        },
        { service: services.map(({ pid }) => pid), database: world.databasePid },
      );
    await using one = await world.startWarm();
    await using other = await world.startWarm();
    const contestants = { one: turn([one]), two: turn([one, other]) };
    const row = beginTable([
      `${workload.name} REST`,
      'of one',
      'requests/s',
      'CPU µs: service',
      'database',
      'p50 ms',
      'p99 ms',
      'refused',
    ]);
    const printRow = (name: string, samples: Sample[], ofOne: Sample[]) =>
      row(
        name,
        figure(ratioOf(samples, ofOne), 3),
        figure(medianOf(samples, 'perSecond')),
        figure(medianOf(samples, 'serviceCpu'), 1),
        figure(medianOf(samples, 'databaseCpu'), 1),
        figure(medianOf(samples, 'p50'), 2),
        figure(medianOf(samples, 'p99'), 2),
        figure(medianOf(samples, 'refused'), 3),
      );
    if (redisUrl === undefined) {
      const results = await alternate(contestants);
      printRow('one process', results.one, results.one);
      printRow('two processes', results.two, results.one);
      printNotMeasured('several processes that share limits', 'There is no Redis.');
    } else {
      await using sharedOne = await world.startWarm({ redisUrl });
      await using sharedOther = await world.startWarm({ redisUrl });
      await using supervisor = await world.startWarm({ redisUrl, workers: 2 });
      const results = await alternate({
        ...contestants,
        sharedOne: turn([sharedOne]),
        sharedTwo: turn([sharedOne, sharedOther]),
        workers: turn([supervisor]),
      });
      printRow('one process', results.one, results.one);
      printRow('two processes', results.two, results.one);
      printRow('one process, Redis', results.sharedOne, results.sharedOne);
      printRow('two processes, Redis', results.sharedTwo, results.sharedOne);
      printRow('serve --workers 2, Redis', results.workers, results.sharedOne);
    }
    if (availableParallelism() < coresNeeded) {
      printNotMeasured(
        'what a second instance adds on its own core',
        `This machine has ${availableParallelism()} cores; load, database and two instances need ${coresNeeded}. Requests a second above show what is left to share; CPU per request shows whether a second instance costs more than one.`,
      );
    }
  },
};
