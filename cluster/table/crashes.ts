import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../faults/fault.ts';
import { type Victim, chooseVictim, watchOthers } from '../victim.ts';
import type { World } from '../world.ts';

const awayMilliseconds = 6_000;
/** One of three workers is gone: so many new shops in a row belong on it in one run of 6,500. */
const maxAttempts = 8;

/** Nodes that end or freeze without warning, and come back. */
export function crashes(): readonly Fault<World>[] {
  let victim: Victim | undefined;
  let problems: string[] = [];
  const prepare = async (world: World) => {
    victim = await watchOthers(world, await chooseVictim(world));
  };
  return [
    {
      name: 'worker killed -9, started',
      prepare,
      async inject(world) {
        await victim?.worker.server.stop('crash');
        const goneAt = performance.now();
        problems = await createShops(world);
        await sleep(awayMilliseconds);
        problems.push(...(await findUnnamed(world, victim?.worker.port)));
        problems.push(...(victim?.checkGone(world.traffic.outcomes, goneAt) ?? []));
      },
      async end() {
        await victim?.worker.server.start();
      },
      check: (_world, outcomes) => [...problems, ...(victim?.check(outcomes) ?? [])],
    },
    {
      name: 'worker frozen, 6 s',
      prepare,
      async inject() {
        victim?.worker.server.freeze();
        await sleep(awayMilliseconds);
      },
      async end() {
        victim?.worker.server.thaw();
      },
      check({ notes }, outcomes) {
        // All requests share connections to the coordinator, so they may wait, but no longer than that.
        notes.push(
          ...(victim?.check(outcomes) ?? []).map((each) => `worker frozen, 6 s: ${each}.`),
        );
        return [];
      },
    },
    {
      name: 'coordinator killed -9, started',
      async inject({ cluster }) {
        await cluster.coordinator.server.stop('crash');
        await sleep(awayMilliseconds);
      },
      end: ({ cluster }) => cluster.coordinator.server.start(),
    },
  ];
}

/** Creates shops until one is on a node that works. @returns what went wrong */
async function createShops({ runCommand }: World): Promise<string[]> {
  const failures: string[] = [];
  while (failures.length < maxAttempts) {
    const id = String(randomInt(1, 2 ** 47));
    try {
      await runCommand('shops', 'create', '--id', id, '--name', 'Drill', '--currency', 'USD');
      return [];
    } catch (error) {
      failures.push(`shops create: ${String(error)}`);
    }
  }
  return failures;
}

/** Instances that do not name the node that is gone. */
async function findUnnamed({ instances }: World, port: number | undefined): Promise<string[]> {
  const unnamed: string[] = [];
  for (const instance of instances) {
    const body = await instance.readiness();
    const isNamed = body.includes(`:${port}":"does not answer`) && body.includes('"ready"');
    if (!isNamed) unnamed.push(`instance ${instance.name} says only ${body}`);
  }
  return unnamed;
}
