import { addressOf, nameOf } from '../../config/database-url.ts';
import { CommandError } from '../../errors.ts';
import type { Sql } from '../database.ts';

const unreachable =
  'Check that PostgreSQL is running there, and that the host and port are correct.';
const loginRejected = "Check the user and password, and the server's pg_hba.conf.";

/** What to do, by error code. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  NO_ANSWER: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  '28000': loginRejected,
  '28P01': loginRejected,
  '3D000': 'Create the database, or correct its name.',
  '57P03': 'Wait until it is up, then try again.',
};

/**
 * Connects once, to report early and clearly that a database cannot be used.
 * @param variable that the address comes from
 * @throws CommandError that names the variable, host, port and database, but not the password
 */
export async function checkConnection(sql: Sql, variable: string, address: string): Promise<void> {
  try {
    await sql`select 1`;
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    const { database } = addressOf(address);
    throw new CommandError(
      // If a host name has several addresses and none of them answers, the error has no message.
      `${variable}: PostgreSQL at ${nameOf(address)}/${database} cannot be used: ${message || code}. ` +
        (advice[code] ?? `Check the server's log and ${variable}.`),
      { cause: error },
    );
  }
}
