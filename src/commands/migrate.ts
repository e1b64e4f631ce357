import { loginOf } from '../database-url.ts';
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
    '--roles  also makes the login of DATABASE_SERVE_URL, which may only read what is served, with the',
    '         password that stands there; may be run again, after the password was changed for example',
  ],
  options: { roles: { type: 'boolean' } },
  async run({ config, options }) {
    const serveUrl = options['roles'] ? config.databaseServeUrl : undefined;
    if (options['roles'] && serveUrl === undefined) {
      throw new UsageError(
        '--roles makes the login of DATABASE_SERVE_URL, which is not set. It is the address of DATABASE_URL with a user and password to be made.',
      );
    }
    const store = await openStore({ ...config, serveUrl, role: 'command' });
    try {
      const applied = await migrate(store.write, { onWait: tell });
      print(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
      if (serveUrl !== undefined) {
        const login = loginOf(serveUrl);
        await createServingLogin(store, login);
        print(`The login "${login.user}" may read what is served, and nothing else.`);
      }
      return exitStatus.done;
    } finally {
      await store.close();
    }
  },
};
