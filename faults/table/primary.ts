import { setTimeout as sleep } from 'node:timers/promises';
import { onServer } from '../../test/support/replication.ts';
import type { Fault } from '../fault.ts';
import type { World } from '../world.ts';

const awayMilliseconds = 3_000;
const frozenMilliseconds = 4_000;
const crashes = 3;
const pollMilliseconds = 20;

/** Faults of PostgreSQL itself. */
export const primaryFaults: readonly Fault[] = [
  {
    name: 'backends killed -9',
    async inject(world) {
      for (let crash = 0; crash < crashes; crash += 1) {
        const [backend] = await onServer<{ pid: number }>(
          world.primary.server.url,
          `select pid from pg_stat_activity where application_name like 'retention read%' order by random() limit 1`,
        );
        // PostgreSQL then stops all other backends and restarts by itself.
        if (backend) process.kill(backend.pid, 'SIGKILL');
        await sleep(pollMilliseconds);
        await untilAnswering(world);
        await sleep(awayMilliseconds / crashes);
      }
    },
    end: untilAnswering,
  },
  {
    name: 'PostgreSQL frozen, 4 s',
    async inject({ primary }) {
      primary.server.freeze();
      await sleep(frozenMilliseconds);
    },
    async end({ primary }) {
      primary.server.thaw();
    },
  },
  {
    name: 'PostgreSQL stopped, started',
    async inject({ primary }) {
      await primary.server.stop();
      await sleep(awayMilliseconds);
    },
    end: ({ primary }) => primary.server.start(),
  },
  {
    name: 'PostgreSQL killed -9, started',
    async inject({ primary }) {
      await primary.server.stop('crash');
      await sleep(awayMilliseconds);
    },
    end: ({ primary }) => primary.server.start(),
  },
];

async function untilAnswering({ primary }: World): Promise<void> {
  for (;;) {
    try {
      await onServer(primary.server.url, 'select 1');
      return;
    } catch {
      await sleep(pollMilliseconds);
    }
  }
}
