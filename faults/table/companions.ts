import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const awayMilliseconds = 3_000;

/** Dependencies whose loss callers must not notice. */
export const companionFaults: readonly Fault[] = [
  {
    name: 'standby killed -9, started',
    mayRefuse: false,
    async inject({ standby }) {
      await standby.server.stop('crash');
      await sleep(awayMilliseconds);
    },
    end: ({ standby }) => standby.server.start(),
  },
  {
    name: 'standby frozen, 3 s',
    mayRefuse: false,
    async inject({ standby }) {
      standby.server.freeze();
      await sleep(awayMilliseconds);
    },
    async end({ standby }) {
      standby.server.thaw();
    },
  },
  {
    name: 'standby silent, 3 s',
    mayRefuse: false,
    async inject({ standby }) {
      standby.wire.silenceAll();
      await sleep(awayMilliseconds);
    },
    async end({ standby }) {
      standby.wire.restore();
    },
  },
  {
    name: 'Redis killed -9, started',
    mayRefuse: false,
    async inject({ redis }) {
      await redis.kill();
      await sleep(awayMilliseconds);
    },
    end: ({ redis }) => redis.start(),
  },
  {
    name: 'Redis frozen, 3 s',
    mayRefuse: false,
    async inject({ redis }) {
      redis.freeze();
      await sleep(awayMilliseconds);
    },
    async end({ redis }) {
      redis.thaw();
    },
  },
];
