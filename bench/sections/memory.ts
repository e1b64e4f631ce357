import { hasProcessFigures, residentMegabytes } from '../cpu.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { runClosedLoop } from '../load.ts';
import { print, printNotMeasured } from '../report.ts';
import { mixtureOf } from '../workloads.ts';
import type { Section } from './section.ts';

const loadMilliseconds = 20_000;
const sampleMilliseconds = 100;
const restMilliseconds = 5_000;

/** Resident memory before, under and after a load of all operations over both transports. */
export const memorySection: Section = {
  name: 'memory',
  async measure(world, workloads) {
    if (!hasProcessFigures) {
      printNotMeasured('memory', 'This system has no /proc.');
      return;
    }
    await using service = await world.start();
    await sleep(restMilliseconds);
    printRow('at rest', residentMegabytes(service.pid));

    const samples: number[] = [];
    const sampling = setInterval(
      () => samples.push(residentMegabytes(service.pid)),
      sampleMilliseconds,
    );
    const mixture = mixtureOf(workloads, [service.port], () => world.shop.keys[0] as string);
    const { requests } = await runClosedLoop(mixture, { milliseconds: loadMilliseconds });
    clearInterval(sampling);
    const middle = samples.length >> 1;
    printRow('max in the first half of the load', Math.max(...samples.slice(0, middle)));
    printRow('max in the second half of the load', Math.max(...samples.slice(middle)));
    await sleep(restMilliseconds);
    printRow(
      `${restMilliseconds / 1000} s after ${requests} requests`,
      residentMegabytes(service.pid),
    );
  },
};

function printRow(when: string, megabytes: number): void {
  print(`${when.padEnd(40)}${megabytes.toFixed(0).padStart(6)} MB`);
}
