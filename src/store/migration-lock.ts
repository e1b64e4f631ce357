import type { Transaction } from './database.ts';

/** Arbitrary, but the same in every version, so that migrating processes wait for each other. */
const lockId = 7_370_110_274;

/** Excludes other processes that change the schema or its privileges, until the transaction ends. */
export async function lockMigrations(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockId})`;
}
