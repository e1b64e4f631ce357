import { addressOf, nameOf, parseAddress } from '../../config/database-url.ts';
import { UsageError } from '../../errors.ts';
import { type Sql, connect } from '../../store/database.ts';
import { checkConnection } from '../../store/open.ts';
import type { Context } from '../framework/command.ts';
import { tell } from '../framework/io.ts';

/** Another installation's database. */
export interface Place {
  readonly url: string;
  /** Without user and password. */
  readonly address: string;
}

/** Reads `env:NAME` from that variable, so that a secret is in no list of processes; returns other texts as they are. */
export function fromEnvironment(typed: string, name: string, { io }: Context): string {
  const [, variable] = /^env:(\w+)$/.exec(typed) ?? [];
  if (variable === undefined) return typed;
  const value = io.environment()[variable]?.trim();
  if (value) return value;
  throw new UsageError(
    `${name} names the variable ${variable}, which is not set. Set it, or name another.`,
  );
}

/** @throws UsageError if it is no address */
export function resolvePlace(typed: string, name: string, context: Context): Place {
  const url = fromEnvironment(typed, name, context);
  const parsed = parseAddress(url);
  if (!parsed) {
    throw new UsageError(
      `${name} must be an address such as postgres://user@host:5432/database, or env: and the variable that has one.`,
    );
  }
  if (url === typed && parsed.password !== '') {
    tell(
      context.io,
      `The password in ${name} is in the list of processes: give it as env:NAME, with the address in that variable.`,
    );
  }
  return { url, address: `${nameOf(url)}/${addressOf(url).database}` };
}

/** @throws CommandError if the database cannot be used */
export async function withPlace<T>(
  { url }: Place,
  name: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  await checkConnection(name, url);
  const sql = connect(url, { name: 'move', connections: 2, statementTimeoutMilliseconds: 0 });
  try {
    return await work(sql);
  } finally {
    await sql.end(1);
  }
}
