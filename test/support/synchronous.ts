import assert from 'node:assert/strict';
import type { PostgresServer } from './postgres.ts';
import { onServer } from './replication.ts';
import { until } from './until.ts';

/** Whether any connection of this name waits for a synchronous standby. */
async function isWaiting(primary: PostgresServer, name: string): Promise<boolean> {
  const waiting = await onServer(
    primary.url,
    `select from pg_stat_activity where wait_event = 'SyncRep' and application_name like '${name}'`,
  );
  return waiting.length > 0;
}

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
}

/**
 * Runs work while the standby is frozen, and verifies that it completes only after the thaw.
 * @param work waits for the standby on a connection of the service
 * @param waiting what else must happen before the thaw
 */
export async function waitingForStandby<Result>(
  { primary, standby }: Pair,
  work: () => Promise<Result>,
  waiting: () => Promise<unknown> = async () => {},
): Promise<Result> {
  standby.freeze();
  try {
    let isDone = false;
    const done = work().finally(() => (isDone = true));
    await until(async () => isDone || (await isWaiting(primary, 'retention %')));
    if (!isDone) await waiting();
    assert.equal(isDone, false, 'done while the standby was frozen');
    standby.thaw();
    return await done;
  } finally {
    standby.thaw();
  }
}

/** Waits until commits with `synchronous_commit = on` wait for the standby. */
export async function makeSynchronous({ primary, standby }: Pair): Promise<void> {
  await onServer(primary.url, "alter system set synchronous_standby_names = '*'");
  await onServer(primary.url, 'select pg_reload_conf()');
  standby.freeze();
  // The server's processes read the setting one after another, with a delay.
  for (let isSynchronous = false; !isSynchronous;) {
    let isDone = false;
    const done = onServer(
      primary.url,
      "begin; set local synchronous_commit = on; select pg_logical_emit_message(true, '', ''); commit",
    ).finally(() => (isDone = true));
    await until(async () => isDone || (await isWaiting(primary, 'retention test')));
    isSynchronous = !isDone;
    if (isSynchronous) standby.thaw();
    await done;
  }
}
