import { loginOf } from '../config/database-url.ts';
import { UsageError } from '../errors.ts';
import { migrate } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import { createServingLogin } from '../store/serving-login.ts';
import { type Command, exitStatus, print, tell } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  synopsis: '[--roles]',
  summary: "brings the database's schema up to date; safe to run from several places at once",
  details: [
    '--roles  also creates the login of DATABASE_SERVE_URL, which can only read served data, with the',
    '         password given there; run it again after changing the password',
  ],
  options: { roles: { type: 'boolean' } },
  async run({ config, options }) {
    const serveUrl = options['roles'] ? config.databaseServeUrl : undefined;
    if (options['roles'] && serveUrl === undefined) {
      throw new UsageError(
        '--roles creates the login of DATABASE_SERVE_URL, which is not set. Set it to the address of DATABASE_URL with a new user and password.',
      );
    }
    const store = await openStore({ ...config, serveUrl, role: 'command' });
    try {
      const applied = await migrate(store.write, { onWait: tell });
      print(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
      if (serveUrl !== undefined) {
        const login = loginOf(serveUrl);
        await createServingLogin(store, login);
        print(`The login "${login.user}" can read served data and nothing else.`);
      }
      return exitStatus.done;
    } finally {
      await store.close();
    }
  },
};
