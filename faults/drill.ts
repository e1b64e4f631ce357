import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { print } from '../bench/report.ts';
import type { Fault } from './fault.ts';
import type { Scene } from './scene.ts';

interface Drill<Place extends Scene> {
  readonly name: string;
  readonly faults: readonly Fault<Place>[];
  /** Names of programs that are not installed. */
  readonly missing: readonly string[];
  /** @param deferred disposes of everything that was started, even after a failure */
  open(deferred: AsyncDisposableStack, folder: string): Promise<Place>;
  /** @returns what was wrong, one sentence each, and the closing line */
  run(selected: readonly Fault<Place>[], opened: () => Promise<Place>): Promise<Summary>;
}

export interface Summary {
  readonly problems: readonly string[];
  readonly closing: string;
}

const maxMinutes = 10;
/** How long an orderly shutdown may take. */
const giveUpMilliseconds = 15_000;

/** Runs all faults, or those whose names contain one of the arguments; then exits. */
export async function runDrill<Place extends Scene>(drill: Drill<Place>): Promise<void> {
  if (drill.missing.length > 0) {
    print(`The drill needs ${drill.missing.join(' and ')} on this machine.`);
    process.exit(1);
  }
  const folder = mkdtempSync(path.join(tmpdir(), `retention-${drill.name}-`));
  const deferred = new AsyncDisposableStack();
  let opening: Promise<Place> | undefined;
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
  process.on('SIGINT', () => void giveUp('Stopped.', 130));
  process.on('SIGTERM', () => void giveUp('Stopped.', 143));
  setTimeout(
    () => void giveUp(`WRONG: the drill took longer than ${maxMinutes} minutes.`, 1),
    maxMinutes * 60_000,
  ).unref();
  try {
    const hasPassed = await runSelected(drill, folder, () => {
      opening = drill.open(deferred, folder);
      return opening;
    });
    await deferred.disposeAsync();
    if (hasPassed || !opening) rmSync(folder, { recursive: true });
    process.exitCode = hasPassed ? 0 : 1;
  } catch (error) {
    // Errors during an early shutdown are caused by it.
    if (!isGivenUp) {
      await deferred.disposeAsync();
      rmSync(folder, { recursive: true });
      throw error;
    }
  }
}

async function runSelected<Place extends Scene>(
  { faults, run }: Drill<Place>,
  folder: string,
  opened: () => Promise<Place>,
): Promise<boolean> {
  const only = process.argv.slice(2);
  const selected = faults.filter(
    ({ name }) => only.length === 0 || only.some((each) => name.includes(each)),
  );
  if (selected.length === 0) {
    print(`No fault matches. Available: ${faults.map(({ name }) => name).join('; ')}.`);
    return false;
  }
  const { problems, closing } = await run(selected, opened);
  for (const problem of problems) print(`WRONG: ${problem}`);
  if (problems.length > 0) print(`The logs of the instances are in ${folder}.`);
  print(closing);
  return problems.length === 0;
}
