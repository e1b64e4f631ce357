import { cpuMicroseconds, hasProcessFigures } from './cpu.ts';
import { type LoadResult, type Target, runClosedLoop } from './load.ts';
import { milliseconds, rounds } from './settings.ts';
import { median, quantile } from './statistics.ts';

export interface Rate {
  readonly perSecond: number;
}

/** Times in milliseconds; processor time in microseconds per request, NaN if unknown. */
export interface Sample extends Rate {
  readonly requests: number;
  readonly serviceCpu: number;
  readonly databaseCpu: number;
  readonly p50: number;
  readonly p99: number;
  /** The share of requests that were refused. */
  readonly refused: number;
}

interface Processes {
  /** Process ids of the server under test. */
  readonly service: readonly number[];
  readonly database: number;
}

/** One turn of a contestant: a closed loop, and the CPU time that the system accounts for it. */
export function sample(
  target: Target,
  processes: Processes,
  connections?: number,
): Promise<Sample> {
  return sampleLoad(() => runClosedLoop(target, { milliseconds }, connections), processes);
}

/** The same for any load. */
export async function sampleLoad(
  load: () => Promise<LoadResult>,
  { service, database }: Processes,
): Promise<Sample> {
  const before = { service: usedBy(service), database: usedBy([database]) };
  const result = await load();
  return {
    requests: result.requests,
    perSecond: result.requests / result.seconds,
    serviceCpu: (usedBy(service) - before.service) / result.requests,
    databaseCpu: (usedBy([database]) - before.database) / result.requests,
    p50: quantile(result.latencies, 0.5),
    p99: quantile(result.latencies, 0.99),
    refused: 1 - (result.statuses.get(200) ?? 0) / result.requests,
  };
}

function usedBy(pids: readonly number[]): number {
  return hasProcessFigures ? pids.reduce((sum, pid) => sum + cpuMicroseconds(pid), 0) : Number.NaN;
}

/**
 * Contestants take turns, so that other load on the machine affects all of them alike. The first
 * round does not count, because V8 compiles then.
 */
export async function alternate<Results extends Record<string, object>>(contestants: {
  [Name in keyof Results]: () => Promise<Results[Name]>;
}): Promise<{ [Name in keyof Results]: Results[Name][] }> {
  const names: (keyof Results)[] = Object.keys(contestants);
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
    [Name in keyof Results]: Results[Name][];
  };
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const result = await contestants[name]();
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}

/** The median of one figure. */
export function medianOf<Field extends string>(
  samples: readonly Readonly<Record<Field, number>>[],
  field: Field,
): number {
  return median(samples.map((each) => each[field]));
}

/** The median ratio of the first rate to the second, turn by turn. */
export function ratioOf(ones: readonly Rate[], others: readonly Rate[]): number {
  return median(ones.map((one, turn) => one.perSecond / (others[turn] as Rate).perSecond));
}
