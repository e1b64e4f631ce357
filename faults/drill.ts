import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beginTable, print } from '../bench/report.ts';
import type { Fault } from './fault.ts';
import type { Scene } from './scene.ts';
import type { Result } from './trial.ts';
import { type Summary, summarise } from './verdict.ts';

interface Drill<Place extends Scene, Found extends Result> {
  readonly name: string;
  /** What one of its faults is called. */
  readonly noun: string;
  readonly faults: readonly Fault<Place>[];
  /** The columns of its table after the fault's name, by heading. */
  readonly columns: Readonly<Record<string, (result: Found) => string>>;
  /** Names of programs that are not installed. */
  readonly missing: readonly string[];
  /** @param deferred disposes of everything that was started, even after a failure */
  open(deferred: AsyncDisposableStack, folder: string): Promise<Place>;
  tryOne(fault: Fault<Place>, place: Place): Promise<Found>;
  /** Adds to what the faults have shown. */
  conclude?(place: Place, summary: Summary): Summary;
}

const maxMinutes = 10;
/** How long an orderly shutdown may take. */
const giveUpMilliseconds = 15_000;

/** Runs all faults, or those whose names contain one of the arguments; then exits. */
export async function runDrill<Place extends Scene, Found extends Result>(
  drill: Drill<Place, Found>,
): Promise<void> {
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

async function runSelected<Place extends Scene, Found extends Result>(
  drill: Drill<Place, Found>,
  folder: string,
  opened: () => Promise<Place>,
): Promise<boolean> {
  const { noun, faults, columns, tryOne, conclude = (_, summary) => summary } = drill;
  const only = process.argv.slice(2);
  const selected = faults.filter(
    (fault) => only.length === 0 || only.some((each) => fault.name.includes(each)),
  );
  if (selected.length === 0) {
    const available = faults.map((fault) => fault.name).join('; ');
    print(`No ${noun} matches. Available: ${available}.`);
    return false;
  }
  const begin = performance.now();
  const place = await opened();
  const row = beginTable([noun, ...Object.keys(columns)]);
  const results: Found[] = [];
  for (const fault of selected) {
    const result = await tryOne(fault, place);
    results.push(result);
    row(result.name, ...Object.values(columns).map((column) => column(result)));
  }
  await place.traffic.end();
  await place.owner.end();
  const seconds = (performance.now() - begin) / 1000;
  const { problems, closing } = conclude(place, summarise(results, place, seconds, noun));
  for (const problem of problems) print(`WRONG: ${problem}`);
  if (problems.length > 0) print(`The logs of the instances are in ${folder}.`);
  print(closing);
  return problems.length === 0;
}
