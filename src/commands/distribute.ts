import { distribute, planDistribution } from '../store/cluster/distribute.ts';
import { listMissingMigrations, migrate } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import { UsageError } from '../errors.ts';
import { type Command, exitStatus, print, tell } from './command.ts';

export const distributeCommand: Command = {
  name: 'distribute',
  synopsis: '[--check]',
  summary: 'distributes the shops over the nodes of a Citus cluster; safe to run again',
  details: [
    'DATABASE_URL must name the coordinator. Requests and imports wait while tables are moved.',
    '--check  only says what would be done; exit status 1 if there is something to do',
  ],
  options: { check: { type: 'boolean' } },
  async run({ config, options }) {
    if (config.databaseUrl === undefined) {
      throw new UsageError(
        'The embedded database cannot be distributed. Set DATABASE_URL to the coordinator of a Citus cluster.',
      );
    }
    const store = await openStore({ ...config, role: 'command' });
    try {
      if (!options['check']) await migrate(store.write, { onWait: tell });
      const missing = await listMissingMigrations(store.write);
      const { cluster, steps: further } = await planDistribution(store.write);
      const steps = [...missing.map((name) => `apply ${name}`), ...further];
      const workers = cluster.nodes.filter(({ takesShards }) => takesShards).length;
      print(`Citus ${cluster.version}, ${workers} nodes with shards.`);
      if (steps.length === 0) {
        print('Everything is distributed.');
        return exitStatus.done;
      }
      print(['To do:', ...steps.map((step) => `  ${step}`)].join('\n'));
      if (options['check']) return 1;
      await distribute(store.write);
      print('Done: everything is distributed.');
      return exitStatus.done;
    } finally {
      await store.close();
    }
  },
};
