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
export function connectForReading(
  target: string,
  { allowStandby = false, isByShop = false } = {},
): ReadConnections {
  const connectShared = (name: string) =>
    connect(target, {
      name: `read ${name}`,
      connections: 1,
      isShared: true,
      readOnly: true,
      isByShop,
      allowStandby,
      statementTimeoutMilliseconds: 5_000,
    });
  const connectAnalysing = (name: string, connections: number) =>
    connect(target, {
      name,
      connections,
      readOnly: true,
      isByShop,
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

/** The same connections, whose statements may see the rows of one shop only. */
export class ShopConnections implements ReadConnections {
  readonly entitlements: Entitlements;
  readonly #all: ReadConnections;
  readonly #shopId: number;

  constructor(all: ReadConnections, shopId: number) {
    this.#all = all;
    this.#shopId = shopId;
    // It names the shops itself.
    this.entitlements = all.entitlements;
  }

  get keys(): Sql {
    return this.#all.keys.ofShop(this.#shopId);
  }

  get subscriptions(): Sql {
    return this.#all.subscriptions.ofShop(this.#shopId);
  }

  get plans(): Sql {
    return this.#all.plans.ofShop(this.#shopId);
  }

  get cancellations(): Sql {
    return this.#all.cancellations.ofShop(this.#shopId);
  }

  get analyse(): Sql {
    return this.#all.analyse.ofShop(this.#shopId);
  }

  get segments(): Sql {
    return this.#all.segments.ofShop(this.#shopId);
  }
}

export function listConnections(of: ReadConnections): readonly Sql[] {
  return [of.keys, of.subscriptions, of.plans, of.cancellations, of.analyse, of.segments];
}
