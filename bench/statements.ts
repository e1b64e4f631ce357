import type { ReadConnections } from '../src/store/read-connections.ts';
import { connectAll } from '../src/store/open.ts';

/** A statement as the service sends it. */
export interface Statement {
  /** With parameters as `$1`. */
  readonly text: string;
  readonly parameters: readonly unknown[];
  /** What the service sets on the connection that it sends it over. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * The one statement that a piece of work sends.
 * @throws when it sends none, or several
 */
export async function captureStatement(
  databaseUrl: string,
  work: (from: ReadConnections) => Promise<unknown>,
): Promise<Statement> {
  const { primary, close } = connectAll(databaseUrl);
  const statements: Statement[] = [];
  for (const { options } of [primary.read, primary.analyse]) {
    options.debug = (_connection, text, parameters) =>
      void statements.push({ text, parameters, settings: { ...options.connection } });
  }
  try {
    await work(primary);
  } finally {
    await close();
  }
  const [statement, another] = statements;
  if (!statement || another) throw new Error(`${statements.length} statements were sent, not one.`);
  return statement;
}
