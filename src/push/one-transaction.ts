import type { Sql, Transaction } from '../store/database.ts';

/**
 * Lets an import run within one transaction: whatever it would commit is committed with that, or not at all.
 * Work that fails leaves the transaction aborted, so it must then fail as a whole.
 */
export function asSql(tx: Transaction): Sql {
  const query: Transaction = Object.assign(
    ((strings, ...parts) => tx(strings, ...parts)) as Transaction,
    { id: tx.id, unsafe: tx.unsafe, script: tx.script },
  );
  return Object.assign(query, {
    begin: (work: (inner: Transaction) => Promise<unknown>) => work(tx),
  }) as unknown as Sql;
}
