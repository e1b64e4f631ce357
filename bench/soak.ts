import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from '../src/access/keys/key-format.ts';
import { hasProcessFigures, residentMegabytes } from './cpu.ts';
import { runClosedLoop } from './load.ts';
import { beginTable, figure, print } from './report.ts';
import { median } from './statistics.ts';
import { mixtureOf, workloadsOf } from './workloads.ts';
import { openWorld } from './world.ts';

/**
 * Many requests against one process, to see whether its memory grows: all operations over both
 * transports, most with a key without limit, some with keys over theirs, some with invented keys.
 */
const requests = Number(process.env['BENCH_REQUESTS'] ?? 1_000_000);
const steps = 10;
const sampleMilliseconds = 200;
const restMilliseconds = 5_000;
const limitedShare = 0.1;
const inventedShare = 0.1;
/** So few that nearly all of their requests are refused. */
const limitedKeys = 20;
/** Garbage collection causes some variation; a larger leak in half the requests is reported. */
const toleratedGrowth = 0.05;

if (!hasProcessFigures) throw new Error('This system has no /proc: memory cannot be measured.');
await using world = await openWorld();
await using service = await world.start();
const { shop, limited } = world;

function anyKey(): string {
  const dice = Math.random();
  if (dice < inventedShare) return generateKey();
  return dice < inventedShare + limitedShare
    ? (limited.keys[Math.floor(Math.random() * limitedKeys)] as string)
    : (shop.keys[0] as string);
}

// Customers and subscriptions of one shop may not exist in the other.
const mixture = {
  ...mixtureOf(workloadsOf(shop), [service.port], anyKey),
  refusals: [401, 404, 429],
};
const row = beginTable(['requests', 'MB', 'requests/s', '200', '401', '404', '429']);
row('0', figure(residentMegabytes(service.pid)));
/** Samples of resident megabytes, by step. */
const samplesByStep: number[][] = [];
for (let step = 1; step <= steps; step += 1) {
  const samples: number[] = [];
  const sampling = setInterval(
    () => samples.push(residentMegabytes(service.pid)),
    sampleMilliseconds,
  );
  const result = await runClosedLoop(mixture, { requests: requests / steps });
  clearInterval(sampling);
  samples.push(residentMegabytes(service.pid));
  samplesByStep.push(samples);
  row(
    String((requests / steps) * step),
    figure(samples.at(-1) as number),
    figure(result.requests / result.seconds),
    ...[200, 401, 404, 429].map((status) => String(result.statuses.get(status) ?? 0)),
  );
}
await sleep(restMilliseconds);
print(`${restMilliseconds / 1000} s later it holds ${figure(residentMegabytes(service.pid))} MB.`);

const half = samplesByStep.slice(steps / 2);
const begin = median(half.slice(0, 2).flat());
const end = median(half.slice(-2).flat());
const growth = end / begin - 1;
print(
  `In the second half, memory went from ${figure(begin)} to ${figure(end)} MB (medians of its first and last two steps): it ${growth > toleratedGrowth ? 'GREW' : 'did not grow'}.`,
);
