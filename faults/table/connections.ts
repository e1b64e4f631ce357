import { setTimeout as sleep } from 'node:timers/promises';
import { onServer } from '../../test/support/replication.ts';
import type { Fault } from '../fault.ts';

const rounds = 40;
const pauseMilliseconds = 75;
const silentMilliseconds = 4_000;

/** Faults of connections while PostgreSQL itself works. */
export const connectionFaults: readonly Fault[] = [
  {
    name: 'connections ended at random',
    async inject({ primary, standby }) {
      for (let round = 0; round < rounds; round += 1) {
        for (const { server } of [primary, standby]) {
          await onServer(
            server.url,
            `select pg_terminate_backend(pid) from pg_stat_activity
             where application_name like 'retention %' and application_name <> 'retention test'
               and random() < 0.2`,
          );
        }
        await sleep(pauseMilliseconds);
      }
    },
    async end() {},
  },
  {
    name: 'connections fall silent',
    // New connections work, so the cause is gone at once.
    async inject({ primary }) {
      primary.wire.silence();
    },
    async end() {},
  },
  {
    name: 'the network is silent, 4 s',
    async inject({ primary }) {
      primary.wire.silenceAll();
      await sleep(silentMilliseconds);
    },
    async end({ primary }) {
      primary.wire.restore();
    },
  },
];
