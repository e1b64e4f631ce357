import { after, describe } from 'node:test';
import { connectAll, type Store } from '../../src/store/open.ts';

type DatabaseName = 'embedded' | 'PostgreSQL' | 'Citus';

interface Database {
  readonly name: DatabaseName;
  /** Where to connect; undefined if it is not available. */
  readonly target: string | undefined;
}

const clusterUrl = process.env['TEST_CITUS_URL'];
/** Whether the server is a cluster, whose locks are on its workers. */
export const isCluster = clusterUrl !== undefined;

/** The server that test files share: the coordinator of a cluster, if there is one. */
export const serverUrl = clusterUrl ?? process.env['TEST_POSTGRES'];

/** With a cluster, only that: `npm test` runs the others. */
const databases: readonly Database[] =
  clusterUrl === undefined
    ? [
        { name: 'embedded', target: process.env['TEST_EMBEDDED'] },
        { name: 'PostgreSQL', target: process.env['TEST_POSTGRES'] },
      ]
    : [{ name: 'Citus', target: clusterUrl }];

type Suite = (open: () => Store, name: DatabaseName) => void;

const stores = new Map<string, Store>();

/** Open connections would keep the process from ending. */
export async function closeStores(): Promise<void> {
  const open = [...stores.values()];
  stores.clear();
  await Promise.all(open.map((store) => store.close()));
}

// For a file that runs alone; `runTogether` closes them itself. In a drill, which also starts services as tests do, a hook
// would begin a run without tests, and print its counts last.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) after(closeStores);

/**
 * A store of a database that tests share. All in this process have the same connections, which outlive those that
 * close them: each new connection plans its first statements anew.
 */
export function shareStore(target: string): Store {
  const store = stores.get(target) ?? connectAll(target);
  stores.set(target, store);
  return { ...store, close: async () => {} };
}

/**
 * Runs a suite on one database, the server if there is one: for what depends on the database only by
 * statements, all of which `store/every-statement.test.ts` runs on both.
 */
export function onOneDatabase(title: string, suite: Suite): void {
  const { name, target } = databases.findLast((each) => each.target !== undefined) as Database;
  describe(title, () => suite(() => shareStore(target as string), name));
}

/** Runs a suite on every available database; others count as skipped. */
export function onEveryDatabase(title: string, suite: Suite): void {
  for (const { name, target } of databases) {
    const missing = `${name} is not available on this machine`;
    describe(`${title} (${name})`, { skip: target === undefined && missing }, () => {
      if (target !== undefined) suite(() => shareStore(target), name);
    });
  }
}
