import { loginOf } from '../config/database-url.ts';
import { UsageError } from '../errors.ts';
import { migrate } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import { createServingLogin } from '../store/serving-login.ts';
import { defineCommand } from './framework/command.ts';
import { tell } from './framework/io.ts';
import { flag } from './framework/parameters.ts';

export const migrateCommand = defineCommand({
  name: 'migrate',
  about: "brings the database's schema up to date; safe to run from several places at once",
  options: {
    roles: flag(
      'also creates the login of DATABASE_SERVE_URL, which can only read served data, with the password given there; run it again after changing the password',
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
      await createServingLogin(store, login);
      return { applied, login: login.user };
    } finally {
      await store.close();
    }
  },
  show: ({ applied, login }) =>
    [
      applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`,
      ...(login === undefined
        ? []
        : [`The login "${login}" can read served data and nothing else.`]),
    ].join('\n'),
});
