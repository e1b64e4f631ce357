import { MemoryRateLimiter } from '../src/access/limiter/rolling-memory-limiter.ts';
import type { RateLimiter } from '../src/access/limiter/rate-limiter.ts';
import { RedisRateLimiter } from '../src/access/limiter/rolling-redis-limiter.ts';
import { systemClock } from '../src/clock.ts';
import { createLog } from '../src/log/log.ts';
import { startRedis } from '../test/support/redis.ts';
import { median } from './statistics.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 200);
const takesInRound = 100;
const concurrency = 64;
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Milliseconds per request, sent one after another, with keys that few earlier requests used. */
async function timesOf(limiter: RateLimiter, round: number, limit: number): Promise<number[]> {
  const times: number[] = [];
  for (let each = 0; each < takesInRound; each += 1) {
    const begin = performance.now();
    await limiter.take(`key_${round % 10}_${limit}`, limit);
    times.push(performance.now() - begin);
  }
  return times;
}

/** Requests a second, with 64 in flight. */
async function rateOf(limiter: RateLimiter, round: number): Promise<number> {
  const begin = performance.now();
  let left = takesInRound * 20;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await limiter.take(`key_${round}_${left % 50}`, 300);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (takesInRound * 20 * 1000) / (performance.now() - begin);
}

const redis = await startRedis();
const shared = new RedisRateLimiter({ url: redis.url, clock: systemClock, log: createLog('warn') });
await shared.open();
try {
  const limiters = { memory: new MemoryRateLimiter(systemClock), redis: shared };
  const cases = [
    ['admitted', 1_000_000],
    ['refused', 60],
  ] as const;
  print('outcome    memory, ms   redis, ms   added, ms (medians)');
  for (const [outcome, limit] of cases) {
    const times: Record<string, number[]> = { memory: [], redis: [] };
    // Alternately, so that other load on the machine affects both alike; the first rounds warm up.
    for (let round = -20; round < rounds; round += 1) {
      for (const [name, limiter] of Object.entries(limiters)) {
        const measured = await timesOf(limiter, round + 20, limit);
        if (round >= 0) times[name]?.push(...measured);
      }
    }
    const [memory, inRedis] = [median(times['memory'] ?? []), median(times['redis'] ?? [])];
    const figures = [memory, inRedis, inRedis - memory].map((each) => each.toFixed(4).padStart(9));
    print(`${outcome.padEnd(10)} ${figures.join('   ')}`);
  }
  const rates: number[] = [];
  for (let round = 0; round < rounds / 10; round += 1) rates.push(await rateOf(shared, round));
  print(`${Math.round(median(rates))} requests a second with ${concurrency} in flight`);
  if (shared.state !== 'shared') throw new Error('Redis did not answer in time during the run.');
} finally {
  shared.close();
  await redis.destroy();
}
