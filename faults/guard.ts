import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { print } from '../bench/report.ts';

/** How long an orderly shutdown may take. */
const giveUpMilliseconds = 15_000;

/**
 * Starts what a drill needs, once.
 * @param start gets a stack that disposes of everything that was started, even after a failure, and a folder
 */
export type Open = <Place>(
  start: (deferred: AsyncDisposableStack, folder: string) => Promise<Place>,
) => Promise<Place>;

/**
 * Runs a drill in a folder of its own, for a limited time. If it is interrupted or takes too long, it stops whatever was
 * started and exits. The folder stays if the drill opened something and failed.
 * @param drill returns whether it passed
 */
export async function runGuarded(
  name: string,
  maxMinutes: number,
  drill: (open: Open) => Promise<boolean>,
): Promise<boolean> {
  const folder = mkdtempSync(path.join(tmpdir(), `retention-${name}-`));
  const deferred = new AsyncDisposableStack();
  let opening: Promise<unknown> | undefined;
  let isGivenUp = false;
  const giveUp = async (reason: string, code: number) => {
    if (isGivenUp) process.exit(code);
    isGivenUp = true;
    print(reason);
    // Exiting kills whatever cannot be stopped in time.
    setTimeout(() => {
      rmSync(folder, { recursive: true });
      process.exit(code);
    }, giveUpMilliseconds).unref();
    // Wait for it, so that nothing that is being started is left running.
    await opening?.catch(() => {});
    await deferred.disposeAsync().catch(() => {});
    rmSync(folder, { recursive: true });
    process.exit(code);
  };
  const interrupted = () => void giveUp('Stopped.', 130);
  const terminated = () => void giveUp('Stopped.', 143);
  process.on('SIGINT', interrupted).on('SIGTERM', terminated);
  const timer = setTimeout(
    () => void giveUp(`WRONG: the drill took longer than ${maxMinutes} minutes.`, 1),
    maxMinutes * 60_000,
  ).unref();
  let keepsFolder = false;
  try {
    const hasPassed = await drill((start) => {
      const started = start(deferred, folder);
      opening = started;
      return started;
    });
    keepsFolder = !hasPassed && opening !== undefined;
    return hasPassed;
  } catch (error) {
    // Errors during an early shutdown are caused by it, and it exits.
    if (isGivenUp) await new Promise(() => {});
    keepsFolder = opening !== undefined;
    throw error;
  } finally {
    if (!isGivenUp) {
      await deferred.disposeAsync();
      if (keepsFolder) print(`The logs of the instances are in ${folder}.`);
      else rmSync(folder, { recursive: true });
    }
    process.off('SIGINT', interrupted).off('SIGTERM', terminated);
    clearTimeout(timer);
  }
}
