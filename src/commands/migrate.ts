import { migrate } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import { type Command, exitStatus, print } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  synopsis: '',
  summary: "brings the database's schema up to date; safe to run from several places at once",
  options: {},
  async run({ config }) {
    const store = await openStore({ ...config, role: 'command' });
    try {
      const applied = await migrate(store.write);
      print(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
      return exitStatus.done;
    } finally {
      await store.close();
    }
  },
};
