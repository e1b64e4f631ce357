import { test } from 'node:test';
import { openStore } from '../../src/store/open.ts';
import { migratedFolder } from '../cli/process.ts';
import { useEverything } from './use-everything.ts';

// by-shop.test.ts runs the same on a server, and checks that no statement is missing.
test('every statement runs on the embedded database', async (t) => {
  const dataDir = migratedFolder();
  const store = await openStore({ databaseUrl: undefined, dataDir, role: 'serve' });
  t.after(() => store.close());
  await useEverything(store);
});
