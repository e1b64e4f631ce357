import { addressOf, nameOf } from '../../database-url.ts';
import { CommandError } from '../../errors.ts';
import type { Sql } from '../database.ts';

const unreachable = 'Check that PostgreSQL runs there, and that host and port are right.';
const notAdmitted = 'Check user and password, and what pg_hba.conf of the server allows.';

/** What to do, by the code of the error. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  NO_ANSWER: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  '28000': notAdmitted,
  '28P01': notAdmitted,
  '3D000': 'Create that database, or correct its name.',
  '57P03': 'Wait until it is up, then try again.',
};

/**
 * Connects once, so that a database that cannot be used is reported as what it is.
 * @param variable the one that has the address
 * @throws CommandError that names variable, host, port and database, and no password
 */
export async function reach(sql: Sql, variable: string, address: string): Promise<void> {
  try {
    await sql`select 1`;
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    const { database } = addressOf(address);
    throw new CommandError(
      // Where a name has several addresses, and none answers, the error has no message.
      `${variable}: PostgreSQL at ${nameOf(address)}/${database} cannot be used: ${message || code}. ` +
        (advice[code] ?? `Check the server's log, and ${variable}.`),
      { cause: error },
    );
  }
}
