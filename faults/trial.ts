import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';
import type { World } from './world.ts';

/** What a fault has done. */
export interface Result {
  readonly name: string;
  readonly answers: number;
  readonly refused: number;
  /** From the moment at which its cause was gone until nothing was refused any more. */
  readonly recoverySeconds: number;
  readonly slowestSeconds: number;
  readonly writesFailed: number;
  /** The same for writing keys: until no attempt from before was left, and none failed. */
  readonly writingSeconds: number;
  readonly problems: readonly string[];
  /** Processes that ended although the drill did not end them. */
  readonly deaths: readonly string[];
}

/** For so long nothing may be refused before it counts as recovered. */
const quietMilliseconds = 1_500;
/** And so many requests must have been answered by each instance. */
const answersNeeded = 40;
const giveUpMilliseconds = 40_000;
/** Answers normally take less. */
const usualMilliseconds = 500;
const pollMilliseconds = 25;

/** Lets a fault happen, and waits until it is over. */
export async function tryFault(fault: Fault, world: World): Promise<Result> {
  const { traffic, owner } = world;
  const firstOutcome = traffic.outcomes.length;
  const firstWrite = owner.writes.length;
  // Connections that an earlier fault left silent would be noticed only when they are next used.
  for (const { wire } of [world.primary, world.standby]) wire.cut();
  await fault.prepare?.(world);
  await untilReady(world);
  await fault.inflict(world);
  await fault.end(world);
  const goneAt = performance.now();

  const outcomes = () => traffic.outcomes.slice(firstOutcome);
  const writes = () => owner.writes.slice(firstWrite);
  const problems: string[] = [];
  for (;;) {
    const obstacle = await obstacleToCalm();
    if (obstacle === undefined) break;
    if (performance.now() - goneAt > giveUpMilliseconds) {
      problems.push(`${fault.name}: after ${giveUpMilliseconds / 1000} seconds, ${obstacle}`);
      break;
    }
    await sleep(pollMilliseconds);
  }
  problems.push(...(fault.check?.(world) ?? []));
  const refused = outcomes().filter(({ ending }) => ending === 'failed');
  if (fault.mayRefuse === false && refused.length > 0) {
    problems.push(`${fault.name}: ${refused.length} were refused, although none had to be`);
  }
  return {
    name: fault.name,
    answers: outcomes().length,
    refused: refused.length,
    recoverySeconds: secondsAfter(lastRefusal()),
    slowestSeconds: Math.max(0, ...outcomes().map(({ milliseconds }) => milliseconds)) / 1000,
    writesFailed: writes().filter(({ isKept }) => !isKept).length,
    writingSeconds: secondsAfter(lastTroubledWrite()),
    problems,
    deaths: deathsOf(world),
  };

  function secondsAfter(moment: number): number {
    return Math.max(0, moment - goneAt) / 1000;
  }

  function lastRefusal(): number {
    return Math.max(
      0,
      ...outcomes()
        .filter(({ ending }) => ending === 'failed')
        .map(({ begin, milliseconds }) => begin + milliseconds),
    );
  }

  function lastTroubledWrite(): number {
    return Math.max(
      0,
      ...writes()
        .filter(({ begin, isKept }) => !isKept || begin < goneAt)
        .map(({ end }) => end),
    );
  }

  /** Why it is not over yet; undefined once it is. */
  async function obstacleToCalm(): Promise<string | undefined> {
    const calmSince = Math.max(goneAt, lastRefusal(), lastTroubledWrite());
    if (performance.now() - calmSince < quietMilliseconds) return 'there is no calm';
    // A request that waits unusually long may still be refused.
    const longAgo = Math.max(calmSince, performance.now() - usualMilliseconds);
    const waitsLong = (begin: number) => begin < longAgo;
    if ([...traffic.waiting.values()].some(waitsLong)) return 'a request still waits';
    if ([...owner.waiting.values()].some(waitsLong)) return 'a write still waits';
    if (!writes().some(({ begin, isKept }) => isKept && begin > calmSince)) {
      return 'no key can be written';
    }
    const answered = outcomes().filter(({ begin }) => begin > calmSince);
    const silent = world.instances.find(
      (instance) => answered.filter(({ target }) => target === instance).length < answersNeeded,
    );
    return silent ? `instance ${silent.name} hardly answers` : obstacleToReadiness(world);
  }
}

async function untilReady(world: World): Promise<void> {
  const end = performance.now() + giveUpMilliseconds;
  while ((await obstacleToReadiness(world)) !== undefined && performance.now() < end) {
    await sleep(pollMilliseconds);
  }
}

async function obstacleToReadiness({
  instances,
  owner,
  hasStandby,
}: World): Promise<string | undefined> {
  if (owner.checked === 0) return 'no key was revoked so far';
  for (const instance of instances) {
    const said = await instance.readiness();
    const isReady = said.includes('"redis":"up"') && (!hasStandby || said.includes('in use'));
    if (!isReady) return `instance ${instance.name} says ${said}`;
  }
  return undefined;
}

/** What has died since it was asked last. */
function deathsOf({ instances, primary, standby, hasStandby }: World): string[] {
  const deaths = instances.flatMap((instance) => instance.deaths.splice(0));
  for (const { server } of hasStandby ? [primary, standby] : [primary]) {
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
