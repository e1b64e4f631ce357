import { setTimeout as sleep } from 'node:timers/promises';
import { type Target, runOpenLoop } from '../load.ts';
import { beginTable, figure, print } from '../report.ts';
import { quantile } from '../statistics.ts';
import { mixtureOf, targetOf } from '../workloads.ts';
import type { Section } from './section.ts';

/** Requests a second: one that leaves the service almost idle, one that does not. */
const rates = [200, 2000];
const milliseconds = 10_000;

const importWarmUpMilliseconds = 3_000;

/** Its name, what is requested, and how often a second. */
type Load = readonly [string, Target, number];

/**
 * Latency at fixed rates, open loop, counted from the time each request was scheduled; alone, and while records of
 * another shop are being imported.
 */
export const latencySection: Section = {
  name: 'latency',
  async measure(world, workloads) {
    await using service = await world.startWarm();
    const ports = [service.port];
    const key = () => world.shop.keys[0] as string;
    const loads: readonly Load[] = [
      ...rates.map(
        (rate) =>
          [`${workloads[0].name} REST`, targetOf(workloads[0], 'REST', ports, key), rate] as const,
      ),
      ['all of them, both transports', mixtureOf(workloads, ports, key), rates[0] as number],
    ];

    const row = beginTable([
      'latency in ms',
      'requests/s',
      'p50',
      'p90',
      'p99',
      'p99.9',
      'max',
      'max send delay',
    ]);
    const measure = async ([name, target, rate]: Load) => {
      const { latencies, maxLateMilliseconds } = await runOpenLoop(target, rate, milliseconds);
      row(
        name,
        String(rate),
        ...[0.5, 0.9, 0.99, 0.999, 1].map((share) => figure(quantile(latencies, share), 2)),
        figure(maxLateMilliseconds, 2),
      );
    };
    for (const load of loads) await measure(load);
    {
      await using importing = world.startImport();
      // Until it stores records.
      await sleep(importWarmUpMilliseconds);
      const [name, target] = loads[0] as Load;
      await measure([`${name}, import`, target, Math.max(...rates)]);
      if (importing.hasEnded()) throw new Error('The import ended before the measurement did.');
    }
    print("The load generator's own delay is part of each latency.");
  },
};
