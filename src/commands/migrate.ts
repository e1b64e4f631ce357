import { loginOf } from '../config/database-url.ts';
import { UsageError } from '../errors.ts';
import { migrate, listMissingMigrations } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import { type SeesAll, createServingLogin } from '../store/serving-login.ts';
import { defineCommand, flag, exitStatus } from './framework/command.ts';
import { tell, print } from './framework/io.ts';
import { distribute, planDistribution } from '../store/cluster/distribute.ts';

/** How a sentence about the login ends. */
const restOf: Readonly<Record<SeesAll | 'none', string>> = {
  none: ', one shop at a time.',
  'older instance':
    '. It sees all shops, because an instance of an older version uses it. Run this again once none does.',
  Citus: '. It sees all shops, because the database is on Citus.',
};

export const migrateCommand = defineCommand({
  name: 'migrate',
  about: "brings the database's schema up to date; safe to run from several places at once",
  options: {
    roles: flag(
      'also creates the login of DATABASE_SERVE_URL, which can only read served data, of one shop at a time, with the password given there; run it again after changing the password',
    ),
  },
  async run({ roles }, { config, io }) {
    const serveUrl = roles ? config.databaseServeUrl : undefined;
    if (roles && serveUrl === undefined) {
      throw new UsageError(
        '--roles creates the login of DATABASE_SERVE_URL, which is not set. Set it to the address of DATABASE_URL with a new user and password.',
      );
    }
    const store = await openStore({ ...config, serveUrl, role: 'command' });
    try {
      const applied = await migrate(store.write, { onWait: (text) => tell(io, text) });
      if (serveUrl === undefined) return { applied };
      const login = loginOf(serveUrl);
      const seesAll = await createServingLogin(store, login);
      return { applied, login: login.user, seesAll };
    } finally {
      await store.close();
    }
  },
  show: ({ applied, login, seesAll }) =>
    [
      applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`,
      ...(login === undefined
        ? []
        : [
            `The login "${login}" can read served data and nothing else${restOf[seesAll ?? 'none']}`,
          ]),
    ].join('\n'),
});

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
