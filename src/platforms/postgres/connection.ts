import { Socket, isIP } from 'node:net';
import { Client, DatabaseError, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { CredentialsRefused, PlatformError, StreamError } from '../errors.ts';
import { reach } from '../networks.ts';
import type { Target } from './address.ts';
import { Unreadable, guardReading } from './guard.ts';

const connectMilliseconds = 10_000;
/** Sorting a large table takes a while; a query that takes longer needs an index. */
const statementMilliseconds = 2 * 60_000;
/** A server that has stopped does not end its statements itself. */
const silenceMilliseconds = statementMilliseconds + 10_000;

/** How long a server may take to say goodbye. */
const closeMilliseconds = 2_000;
const loginErrors = /^28/;
/** Errors whose messages name parts of a query: columns, tables, functions. Others may quote values of rows. */
const nameErrors = /^(?:42P01|42P02|42703|42702|42883|42803|42501)$/;
/** What the parser of statements says is of the query alone. */
const parserRoutines = /^(?:scanner|base)_yyerror$/;

/** A shop's database, in one transaction. */
export interface Source {
  /**
   * @param stream whose query it is, for the error
   * @throws PlatformError if the server or the way to it fails, in one sentence without values of rows
   */
  query<Row extends QueryResultRow>(query: QueryConfig, stream?: string): Promise<QueryResult<Row>>;
}

/**
 * Runs work in a transaction that reads one state of a shop's database and cannot write.
 * @param networks internal ones that are allowed
 * @param maxBytes of all that the server sends
 * @throws PlatformError as its queries do; whatever else the work throws is passed on
 */
export async function withSource<Result>(
  target: Target,
  {
    networks,
    signal,
    maxBytes = Infinity,
  }: {
    readonly networks: readonly string[];
    readonly signal?: AbortSignal | undefined;
    readonly maxBytes?: number;
  },
  work: (source: Source) => Promise<Result>,
): Promise<Result> {
  const { host, port, database, user, password } = target;
  const { address, isLoopback } = await reach(host, networks);
  const { sslmode = isLoopback ? 'disable' : 'verify-full' } = target;
  if (sslmode === 'disable' && !isLoopback) throw tlsError(`${host}:${port}`, 'is to have');
  const socket = new Socket();
  const client = new Client({
    host: address,
    port,
    database,
    user,
    // A function: for none, the driver would send this server one that the operator's environment has for another.
    password: () => password,
    application_name: 'retention',
    connectionTimeoutMillis: connectMilliseconds,
    query_timeout: silenceMilliseconds,
    keepAlive: true,
    stream: () => socket,
    // What the certificate must be valid for: a name, or an address, which TLS does not take for one.
    ssl: sslmode !== 'disable' && {
      [isIP(host) ? 'host' : 'servername']: host,
      rejectUnauthorized: sslmode === 'verify-full',
    },
    // Text as the server writes it.
    types: { getTypeParser: () => (text: string) => text },
  });
  guardReading(client, maxBytes);
  // A connection that is lost between two queries is noticed by the next one.
  client.on('error', () => {});
  const stop = () => void client.end().catch(() => {});
  signal?.addEventListener('abort', stop, { once: true });
  const explain = (error: unknown, stream?: string) => {
    signal?.throwIfAborted();
    return explained(error, { server: `${host}:${port}`, user, stream });
  };
  const source: Source = {
    query: (query, stream) =>
      client.query(query).catch((error: unknown) => {
        throw explain(error, stream);
      }),
  };
  try {
    signal?.throwIfAborted();
    await client.connect().catch((error: unknown) => {
      throw explain(error);
    });
    await source.query({
      text: `begin transaction isolation level repeatable read read only;
        set local statement_timeout = ${statementMilliseconds};
        set local lock_timeout = 10000;
        set local timezone = 'UTC';
        set local datestyle = 'ISO';
        set local intervalstyle = 'iso_8601';
        set local extra_float_digits = 1`,
    });
    return await work(source);
  } finally {
    signal?.removeEventListener('abort', stop);
    // A server that has stopped closes nothing.
    const timer = setTimeout(() => socket.destroy(), closeMilliseconds);
    await client.end().catch(() => {});
    clearTimeout(timer);
  }
}

const tlsError = (server: string, has: string) =>
  new PlatformError(
    'refused',
    `PostgreSQL at ${server} ${has} no TLS, without which nothing is sent to it.`,
  );

/** What is said of errors whose messages may quote values. */
const knownErrors: Readonly<Record<string, string>> = {
  '3D000': 'there is no such database',
  '22P02': 'a value cannot be read as its type',
  '22012': 'a division by zero',
  '22003': 'a number is out of range',
  '42601': 'it must be one SELECT',
  '57014': `a query took longer than ${statementMilliseconds / 60_000} minutes`,
  '25006': 'the query writes, which it may not',
};

/** An error of the server or of the way to it, as one sentence. Others are passed on. */
function explained(
  error: unknown,
  { server, user, stream }: { server: string; user: string; stream: string | undefined },
): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof Unreadable) {
    return new PlatformError(
      'unavailable',
      `PostgreSQL at ${server} sends what cannot be read here, such as a login by GSSAPI. Let ${user} log in with a password.`,
    );
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  const isOfServer = error instanceof DatabaseError;
  // The driver's own are of a server that asks for a password where there is none, or does not know it itself.
  if ((isOfServer && loginErrors.test(code)) || error.message.startsWith('SASL: '))
    return new CredentialsRefused(`PostgreSQL at ${server} does not accept the login ${user}.`);
  if (isOfServer) {
    const isOfQuery = nameErrors.test(code) || parserRoutines.test(error.routine ?? '');
    const what = isOfQuery ? error.message : (knownErrors[code] ?? 'an error');
    const kind = /^(?:08|40|53|57|58)/.test(code) ? 'unavailable' : 'refused';
    const said = `PostgreSQL at ${server} says: ${what} (${code}).`;
    return stream === undefined
      ? new PlatformError(kind, said)
      : new StreamError(stream, said, kind);
  }
  if (/does not support SSL/.test(error.message)) return tlsError(server, 'has');
  if (/^(?:ERR_TLS_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return new PlatformError(
      'refused',
      `The certificate of PostgreSQL at ${server} is not valid for it (${code}). If it is from an authority of its own, sslmode=require in the address encrypts without checking it.`,
    );
  }
  const isOfNetwork = code !== '' || /timeout|terminated|ended/i.test(error.message);
  return isOfNetwork
    ? new PlatformError(
        'unavailable',
        `PostgreSQL at ${server} cannot be reached (${code || 'no answer'}).`,
      )
    : error;
}
