import { connect } from '../../../store/database.ts';

const closeSeconds = 5;

/** The database of a job, on a connection of its own. */
export function openDatabase(address: string, name: string) {
  const sql = connect(address, { name, connections: 1, statementTimeoutMilliseconds: 0 });
  return {
    sql,
    isEmbedded: !address.startsWith('postgres'),
    close: () => sql.end(closeSeconds),
  };
}
