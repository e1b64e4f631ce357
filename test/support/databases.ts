import { describe } from 'node:test';
import { connectAll, type Store } from '../../src/store/open.ts';

type DatabaseName = 'embedded' | 'PostgreSQL';

interface Database {
  readonly name: DatabaseName;
  /** Where to connect; undefined if it is not available. */
  readonly target: string | undefined;
}

const databases: readonly Database[] = [
  { name: 'embedded', target: process.env['TEST_EMBEDDED'] },
  { name: 'PostgreSQL', target: process.env['TEST_POSTGRES'] },
];

/** Runs a suite on every available database; others count as skipped. */
export function onEveryDatabase(
  title: string,
  suite: (open: () => Store, name: DatabaseName) => void,
): void {
  for (const { name, target } of databases) {
    const missing = `${name} is not available on this machine`;
    describe(`${title} (${name})`, { skip: target === undefined && missing }, () => {
      if (target !== undefined)
        suite(() => ({ ...connectAll(target), failed: new Promise(() => {}) }), name);
    });
  }
}
