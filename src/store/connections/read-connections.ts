import { type Sql, connect } from '../database.ts';
import { Entitlements } from '../records/entitlements.ts';

/**
 * Read-only connections to one server. Look-ups for requests are pipelined on one connection per kind, so
 * that a locked or slow table delays only queries that use it.
 */
export interface ReadConnections {
  /** Keys and their shops. */
  readonly keys: Sql;
  readonly subscriptions: Sql;
  /** The most frequent look-up; shares the connection for subscriptions. */
  readonly entitlements: Entitlements;
  readonly plans: Sql;
  readonly cancellations: Sql;
  /** For longer computations. */
  readonly analyse: Sql;
  /** For what owners' pages compute of segments, which may take seconds; one at a time. */
  readonly segments: Sql;
}

/** @param target an address (postgres://…), or the path of the embedded database's socket */
export function connectForReading(target: string, { allowStandby = false } = {}): ReadConnections {
  const connectShared = (name: string) =>
    connect(target, {
      name: `read ${name}`,
      connections: 1,
      isShared: true,
      readOnly: true,
      allowStandby,
      statementTimeoutMilliseconds: 5_000,
    });
  const connectAnalysing = (name: string, connections: number) =>
    connect(target, {
      name,
      connections,
      readOnly: true,
      allowStandby,
      statementTimeoutMilliseconds: 30_000,
    });
  const subscriptions = connectShared('subscriptions');
  return {
    keys: connectShared('keys'),
    subscriptions,
    entitlements: new Entitlements(subscriptions),
    plans: connectShared('plans'),
    cancellations: connectShared('cancellations'),
    analyse: connectAnalysing('analyse', 2),
    segments: connectAnalysing('segments', 1),
  };
}

export function listConnections(of: ReadConnections): readonly Sql[] {
  return [of.keys, of.subscriptions, of.plans, of.cancellations, of.analyse, of.segments];
}
