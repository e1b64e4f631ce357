import { UsageError } from '../errors.ts';
import { distribute, planDistribution } from '../store/cluster/distribute.ts';
import { listMissingMigrations, migrate } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import { defineCommand, exitStatus } from './framework/command.ts';
import { print, tell } from './framework/io.ts';
import { flag } from './framework/parameters.ts';

export const distributeCommand = defineCommand({
  name: 'distribute',
  about: 'distributes the shops over the nodes of a Citus cluster; safe to run again',
  notes: [
    'DATABASE_URL must name the coordinator. Requests and imports wait while tables are moved.',
  ],
  options: {
    check: flag('only says what would be done; exit status 1 if there is something to do'),
  },
  async run({ check }, { config, io }) {
    if (config.databaseUrl === undefined) {
      throw new UsageError(
        'The embedded database cannot be distributed. Set DATABASE_URL to the coordinator of a Citus cluster.',
      );
    }
    const store = await openStore({ ...config, role: 'command' });
    try {
      if (!check) await migrate(store.write, { onWait: (text) => tell(io, text) });
      const missing = await listMissingMigrations(store.write);
      const { cluster, steps: further } = await planDistribution(store.write);
      const steps = [...missing.map((name) => `apply ${name}`), ...further];
      const workers = cluster.nodes.filter(({ takesShards }) => takesShards).length;
      print(io, `Citus ${cluster.version}, ${workers} nodes with shards.`);
      if (steps.length === 0) {
        print(io, 'Everything is distributed.');
        return exitStatus.done;
      }
      print(io, ['To do:', ...steps.map((step) => `  ${step}`)].join('\n'));
      if (check) return exitStatus.failed;
      await distribute(store.write);
      print(io, 'Done: everything is distributed.');
      return exitStatus.done;
    } finally {
      await store.close();
    }
  },
});
