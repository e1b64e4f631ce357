import { loginOf } from '../config/database-url.ts';
import { UsageError } from '../errors.ts';
import { migrate } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import { createServingLogin } from '../store/serving-login.ts';
import { type Command, exitStatus, printDone, tell } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  synopsis: '[--roles] [--json]',
  summary: "brings the database's schema up to date; safe to run from several places at once",
  details: [
    '--roles  also creates the login of DATABASE_SERVE_URL, which can only read served data, with the',
    '         password given there; run it again after changing the password',
  ],
  options: { roles: { type: 'boolean' }, json: { type: 'boolean' } },
  async run(context) {
    const { config, options } = context;
    const serveUrl = options['roles'] ? config.databaseServeUrl : undefined;
    if (options['roles'] && serveUrl === undefined) {
      throw new UsageError(
        '--roles creates the login of DATABASE_SERVE_URL, which is not set. Set it to the address of DATABASE_URL with a new user and password.',
      );
    }
    const store = await openStore({ ...config, serveUrl, role: 'command' });
    try {
      const applied = await migrate(store.write, { onWait: tell });
      const done =
        applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`;
      if (serveUrl === undefined) printDone(context, { applied }, done);
      else {
        const login = loginOf(serveUrl);
        await createServingLogin(store, login);
        printDone(
          context,
          { applied, login: login.user },
          `${done}\nThe login "${login.user}" can read served data and nothing else.`,
        );
      }
      return exitStatus.done;
    } finally {
      await store.close();
    }
  },
};
