import { Entitlements } from '../src/store/records/entitlements.ts';
import { connectAll } from '../src/store/open.ts';
import type { ReadConnections } from '../src/store/connections/read-connections.ts';
import { type Sent, watched } from '../test/support/client.ts';

/** A statement as the service sends it. */
export interface Statement extends Sent {
  /** The settings of the connection that the service sends it over. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * Captures the one statement that a piece of work sends.
 * @throws if it sends none, or several
 */
export async function captureStatement(
  databaseUrl: string,
  work: (from: ReadConnections) => Promise<unknown>,
): Promise<Statement> {
  const { primary, close } = connectAll(databaseUrl);
  const sent: { statement: Sent; by: typeof primary.analyse }[] = [];
  const watch = (by: typeof primary.analyse) =>
    watched(by, (statement) => void sent.push({ statement, by }));
  const subscriptions = watch(primary.subscriptions);
  try {
    await work({
      keys: watch(primary.keys),
      subscriptions,
      entitlements: new Entitlements(subscriptions),
      plans: watch(primary.plans),
      cancellations: watch(primary.cancellations),
      analyse: watch(primary.analyse),
      segments: watch(primary.segments),
    });
    const [one, another] = sent;
    if (!one || another) throw new Error(`${sent.length} statements were sent, not one.`);
    const rows = await one.by<{ name: string; setting: string }[]>`
      select name, setting from pg_settings where source = 'client'`;
    const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    return { ...one.statement, settings };
  } finally {
    await close();
  }
}
