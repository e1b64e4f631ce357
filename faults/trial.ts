import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';
import type { Scene } from './scene.ts';

/** The effects of a fault. */
export interface Result {
  readonly name: string;
  readonly answers: number;
  readonly refused: number;
  /** Seconds from the end of the fault until the last refused request. */
  readonly recoverySeconds: number;
  readonly slowestSeconds: number;
  /** How long the fault lasted, with its repair. */
  readonly faultSeconds: number;
  readonly writesFailed: number;
  /** The same for writes of keys: until no earlier attempt was pending and none failed. */
  readonly writingSeconds: number;
  readonly problems: readonly string[];
  /** Processes that exited although the drill did not stop them. */
  readonly deaths: readonly string[];
}

/** How long nothing may be refused before it counts as recovered. */
const quietMilliseconds = 1_500;
/** How many requests each instance must answer before it counts as recovered. */
const answersNeeded = 40;
const giveUpMilliseconds = 40_000;
/** Responses normally take less. */
const usualMilliseconds = 500;
const pollMilliseconds = 25;

/** Causes a fault and waits until the service has recovered. */
export async function tryFault<Place extends Scene>(
  fault: Fault<Place>,
  world: Place,
): Promise<Result> {
  const { traffic, owner } = world;
  const firstOutcome = traffic.outcomes.length;
  const firstWrite = owner.writes.length;
  world.cleanUp?.();
  await fault.prepare?.(world);
  await untilReady(world);
  const begunAt = performance.now();
  await fault.inject(world);
  await fault.end(world);
  const endedAt = performance.now();

  const outcomes = () => traffic.outcomes.slice(firstOutcome);
  const writes = () => owner.writes.slice(firstWrite);
  const problems: string[] = [];
  for (;;) {
    const obstacle = await obstacleToRecovery();
    if (obstacle === undefined) break;
    if (performance.now() - endedAt > giveUpMilliseconds) {
      problems.push(`${fault.name}: after ${giveUpMilliseconds / 1000} seconds, ${obstacle}`);
      break;
    }
    await sleep(pollMilliseconds);
  }
  problems.push(...(fault.check?.(world, outcomes()) ?? []));
  const refused = outcomes().filter(({ ending }) => ending === 'failed');
  if (fault.mayRefuse === false && refused.length > 0) {
    problems.push(`${fault.name}: ${refused.length} requests were refused unnecessarily`);
  }
  return {
    name: fault.name,
    answers: outcomes().length,
    refused: refused.length,
    recoverySeconds: secondsAfter(lastRefusal()),
    faultSeconds: (endedAt - begunAt) / 1000,
    slowestSeconds: Math.max(0, ...outcomes().map(({ milliseconds }) => milliseconds)) / 1000,
    writesFailed: writes().filter(({ isAcknowledged }) => !isAcknowledged).length,
    writingSeconds: secondsAfter(lastAffectedWrite()),
    problems,
    deaths: deathsOf(world),
  };

  function secondsAfter(moment: number): number {
    return Math.max(0, moment - endedAt) / 1000;
  }

  function lastRefusal(): number {
    return Math.max(
      0,
      ...outcomes()
        .filter(({ ending }) => ending === 'failed')
        .map(({ begin, milliseconds }) => begin + milliseconds),
    );
  }

  function lastAffectedWrite(): number {
    return Math.max(
      0,
      ...writes()
        .filter(({ begin, isAcknowledged }) => !isAcknowledged || begin < endedAt)
        .map(({ end }) => end),
    );
  }

  /** Why it has not recovered yet; undefined once it has. */
  async function obstacleToRecovery(): Promise<string | undefined> {
    const calmSince = Math.max(endedAt, lastRefusal(), lastAffectedWrite());
    if (performance.now() - calmSince < quietMilliseconds) return 'requests are still refused';
    // A request that waits unusually long may still be refused.
    const longAgo = Math.max(calmSince, performance.now() - usualMilliseconds);
    const waitsLong = (begin: number) => begin < longAgo;
    if ([...traffic.waiting.values()].some(waitsLong)) return 'a request still waits';
    if ([...owner.waiting.values()].some(waitsLong)) return 'a write still waits';
    if (!writes().some(({ begin, isAcknowledged }) => isAcknowledged && begin > calmSince)) {
      return 'no key can be written';
    }
    const answered = outcomes().filter(({ begin }) => begin > calmSince);
    const silent = world.instances.find(
      (instance) => answered.filter(({ target }) => target === instance).length < answersNeeded,
    );
    return silent ? `instance ${silent.name} hardly answers` : findObstacle(world, calmSince);
  }
}

async function untilReady(world: Scene): Promise<void> {
  const begin = performance.now();
  const end = begin + giveUpMilliseconds;
  while ((await findObstacle(world, begin)) !== undefined && performance.now() < end) {
    await sleep(pollMilliseconds);
  }
}

async function findObstacle(world: Scene, since: number): Promise<string | undefined> {
  if (world.owner.checked === 0) return 'no key was revoked so far';
  return world.findObstacle(since);
}

/** Processes that have exited since the last call. */
function deathsOf(world: Scene): string[] {
  const deaths = world.instances.flatMap((instance) => instance.deaths.splice(0));
  for (const server of world.listServers()) {
    if (!isAlive(server.pid)) deaths.push(`PostgreSQL on port ${server.port} is gone`);
  }
  return deaths;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
