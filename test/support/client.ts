import { type Sql, connect } from '../../src/store/database.ts';

/** Connections of a test's own, without limits. */
export function openClient(target: string, connections = 1): Sql {
  return connect(target, {
    name: 'test',
    connections,
    allowStandby: true,
    statementTimeoutMilliseconds: 0,
  });
}

/** A statement as it is sent. */
export interface Sent {
  /** With parameters as `$1`. */
  readonly text: string;
  readonly parameters: readonly (string | null)[];
}

/** The same connections, telling of each statement that goes through them. */
export function watched(sql: Sql, tell: (statement: Sent) => void): Sql {
  return new Proxy(sql, {
    apply(target, self, parts) {
      const query = Reflect.apply(target, self, parts);
      const run = query.run.bind(query);
      query.run = (resolve: never, reject: never) => {
        tell({ text: query.text, parameters: query.parameters });
        run(resolve, reject);
      };
      return query;
    },
  });
}
