import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from '../../test/support/client.ts';
import type { Fault } from '../fault.ts';
import type { Instance } from '../instance.ts';
import type { World } from '../world.ts';

const heldMilliseconds = 3_000;
const pauseMilliseconds = 20;
/** Requests that wait for a lock must not delay others. */
const maxMilliseconds = 1_000;

/** Tables locked as by a careless migration. Requests that read them wait; others are answered. */
export function lockFaults(): readonly Fault[] {
  const problems: string[] = [];
  return [
    {
      name: 'subscriptions locked, 3 s',
      mayRefuse: false,
      async inject(world) {
        const sql = openClient(world.primary.server.url);
        await sql.begin(async (tx) => {
          await tx`lock table subscriptions in access exclusive mode`;
          problems.push(...(await callOthers(world)));
        });
        await sql.end();
      },
      async end() {},
      check: () => problems.splice(0),
    },
    {
      name: 'a lock waits behind a reader',
      mayRefuse: false,
      async inject(world) {
        // A standby does not see waiting locks.
        await world.standby.server.stop();
        const [reader, locker] = [0, 1].map(() => openClient(world.primary.server.url));
        if (!reader || !locker) return;
        let locked: Promise<unknown> | undefined;
        await reader.begin(async (tx) => {
          await tx`select from subscriptions limit 1`;
          locked = locker.begin(
            (other) => other`lock table subscriptions in access exclusive mode`,
          );
          problems.push(...(await callOthers(world)));
        });
        await locked;
        await Promise.all([reader.end(), locker.end()]);
      },
      end: ({ standby }) => standby.server.start(),
      check: () => problems.splice(0),
    },
  ];
}

/** Sends both instances requests that read no subscriptions, for as long as the lock is held. */
async function callOthers({ instances, traffic }: World): Promise<string[]> {
  const problems: string[] = [];
  const end = performance.now() + heldMilliseconds;
  for (let sent = 0; performance.now() < end; sent += 1) {
    const target = instances[sent % 2] as Instance;
    const tool = sent % 4 < 2 ? 'list_plans' : 'list_cancellations';
    const begin = performance.now();
    const ending = await traffic.send(target, tool);
    const waited = performance.now() - begin;
    if (ending !== 'right' || waited > maxMilliseconds) {
      problems.push(`${tool} during a lock: ${ending} after ${Math.round(waited)} ms`);
    }
    await sleep(pauseMilliseconds);
  }
  return problems;
}
