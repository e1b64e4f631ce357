import { setTimeout as sleep } from 'node:timers/promises';
import { onServer } from '../../test/support/replication.ts';
import { until } from '../../test/support/until.ts';
import type { Fault } from '../fault.ts';
import { type World, urlOf } from '../world.ts';

/** How long a cluster manager takes to notice the failure. */
const noticedMilliseconds = 2_000;
/** Longer than any statement waits for an unresponsive server. */
const silentMilliseconds = 6_000;

/** Must run last: each leaves the service without a standby. */
export const failovers: readonly Fault[] = [
  {
    name: 'killed -9, standby promoted',
    prepare: prepareStandby,
    async inject({ primary }) {
      await primary.server.stop('crash');
      await sleep(noticedMilliseconds);
    },
    end: promote,
  },
  {
    name: 'host vanishes, standby promoted',
    prepare: prepareStandby,
    async inject({ primary }) {
      // Connections get no FIN, no RST, and no response.
      primary.wire.silenceAll();
      primary.server.freeze();
      await sleep(silentMilliseconds);
    },
    end: promote,
  },
];

/** Both instances know both hosts, and no acknowledged write can be lost with the primary. */
async function prepareStandby(world: World): Promise<void> {
  const { primary, standby, instances } = world;
  if (!world.hasStandby) {
    await standby.server.destroy();
    standby.server = await primary.server.startReplica();
    world.hasStandby = true;
  }
  for (const instance of instances) {
    await instance.stop();
    await instance.start({
      DATABASE_URL: urlOf(primary.wire, standby.wire),
      DATABASE_READ_URL: urlOf(standby.wire),
    });
  }
  await onServer(primary.server.url, `alter system set synchronous_standby_names = '*'`);
  await onServer(primary.server.url, 'select pg_reload_conf()');
  await until(async () => {
    const sql = `select from pg_stat_replication where sync_state = 'sync'`;
    return (await onServer(primary.server.url, sql)).length > 0;
  });
}

async function promote(world: World): Promise<void> {
  await onServer(world.standby.server.url, 'select pg_promote()');
  [world.primary, world.standby] = [world.standby, world.primary];
  world.hasStandby = false;
}
