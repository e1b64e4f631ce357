import { setTimeout as sleep } from 'node:timers/promises';
import { onServer } from '../../test/support/replication.ts';
import type { Fault } from '../fault.ts';

/** Until whoever watches PostgreSQL has made up their mind. */
const noticedMilliseconds = 2_000;

/** The last of all: there is no standby after it. */
export const failover: Fault = {
  name: 'killed -9, standby promoted',
  async prepare({ instances: [one], primary, bothHosts }) {
    // So that nothing that was acknowledged is lost with the primary.
    await onServer(primary.server.url, `alter system set synchronous_standby_names = '*'`);
    await onServer(primary.server.url, 'select pg_reload_conf()');
    await one.stop();
    await one.start({ DATABASE_URL: bothHosts });
  },
  async inflict(world) {
    await world.primary.server.stop('crash');
    await sleep(noticedMilliseconds);
  },
  async end(world) {
    await onServer(world.standby.server.url, 'select pg_promote()');
    world.hasStandby = false;
  },
};
