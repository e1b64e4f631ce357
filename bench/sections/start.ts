import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cpuMicroseconds } from '../cpu.ts';
import { runClosedLoop } from '../load.ts';
import { type ServerProcess, startDemo } from '../processes.ts';
import { beginTable, figure } from '../report.ts';
import { rounds } from '../settings.ts';
import { median } from '../statistics.ts';
import { targetOf } from '../workloads.ts';
import type { Section } from './section.ts';

/** Milliseconds until the first answer, and processor time used until then. */
interface Start {
  readonly elapsed: number;
  readonly cpu: number;
}

/** From the start of a process to its first answer, as a multiple of the whole life of an empty one. */
export const startSection: Section = {
  name: 'start',
  async measure(world, workloads) {
    const folder = mkdtempSync(path.join(tmpdir(), 'retention-bench-'));
    const key = () => world.shop.keys[0] as string;
    const untilAnswer = async (start: () => Promise<ServerProcess>): Promise<Start> => {
      const begin = performance.now();
      await using service = await start();
      // The demo has other keys; that it refuses this one takes a look into its database.
      const target = { ...targetOf(workloads[0], 'REST', [service.port], key), refusals: [401] };
      await runClosedLoop(target, { requests: 1 }, 1);
      return { elapsed: performance.now() - begin, cpu: cpuMicroseconds(service.pid) / 1000 };
    };
    let demos = 0;
    const contestants: Readonly<Record<string, () => Promise<Start> | Start>> = {
      'an empty Node.js process': startEmpty,
      serve: () => untilAnswer(() => world.start()),
      'serve, nothing compiled before': () => untilAnswer(() => world.start({ isCompiled: false })),
      'demo, new folder': () =>
        untilAnswer(() => startDemo(path.join(folder, String((demos += 1))))),
      'demo, again': () => untilAnswer(() => startDemo(path.join(folder, String(demos)))),
    };
    // Compiles what is compiled only once.
    await contestants['serve']?.();
    const starts = Object.entries(contestants).map(([name, start]) => ({
      name,
      start,
      results: [] as Start[],
    }));
    for (let round = 0; round < rounds; round += 1) {
      for (const { start, results } of starts) results.push(await start());
    }
    rmSync(folder, { recursive: true });

    const row = beginTable(['to the first answer', 'ms', 'of empty', 'CPU ms', 'of empty']);
    const [empty = []] = starts.map(({ results }) => results);
    for (const { name, results } of starts) {
      row(
        name,
        ...(['elapsed', 'cpu'] as const).flatMap((each) => [
          figure(medianOf(results, each)),
          figure(medianOf(results, each) / medianOf(empty, each), 1),
        ]),
      );
    }
  },
};

function medianOf(results: readonly Start[], name: keyof Start): number {
  return median(results.map((start) => start[name]));
}

function startEmpty(): Start {
  const begin = performance.now();
  const used = 'const { user, system } = process.cpuUsage(); console.log(user + system)';
  const microseconds = execFileSync(process.execPath, ['-e', used], { encoding: 'utf8' });
  return { elapsed: performance.now() - begin, cpu: Number(microseconds) / 1000 };
}
