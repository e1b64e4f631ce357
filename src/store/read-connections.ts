import { type Sql, connect } from './database.ts';
import { Entitlements } from './entitlements.ts';
import type { Sockets } from './sockets.ts';

/** What reads from one server. None of it can write. */
export interface ReadConnections {
  /** Short look-ups of requests, pipelined on one connection. */
  readonly read: Sql;
  /** The most frequent of them, read through `read`. */
  readonly entitlements: Entitlements;
  /** Longer computations of requests, apart so that they hold up nothing. */
  readonly analyse: Sql;
}

/** @param target an address (postgres://…), or the path of the embedded database's socket */
export function connectForReading(target: string, sockets?: Sockets): ReadConnections {
  const read = connect(target, {
    name: 'read',
    connections: 1,
    readOnly: true,
    byIndexOnly: true,
    statementTimeoutMilliseconds: 5_000,
    ...(sockets && { sockets }),
  });
  const analyse = connect(target, {
    name: 'analyse',
    connections: 2,
    readOnly: true,
    statementTimeoutMilliseconds: 30_000,
    ...(sockets && { sockets }),
  });
  return { read, entitlements: new Entitlements(read), analyse };
}
