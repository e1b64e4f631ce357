import type { Parameter } from '../../src/store/connections/query.ts';
import { type Sql, connect } from '../../src/store/database.ts';

/** Separate connections for a test, without time limits. */
export function openClient(target: string, connections = 1): Sql {
  return connect(target, {
    name: 'test',
    connections,
    // A server that is named alone may be one.
    allowStandby: !target.includes(','),
    statementTimeoutMilliseconds: 0,
  });
}

/** A statement as sent. */
export interface Sent {
  /** With `$1`, … for its parameters. */
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** The same connections, reporting each statement. */
export function watched(sql: Sql, report: (statement: Sent) => void): Sql {
  return new Proxy(sql, {
    apply(target, self, parts) {
      const query = Reflect.apply(target, self, parts);
      const run = query.run.bind(query);
      query.run = (resolve: never, reject: never) => {
        report({ text: query.text, parameters: query.parameters });
        run(resolve, reject);
      };
      return query;
    },
  });
}
