import { beginTable, print } from '../bench/report.ts';
import { chosen, listNames } from './chosen.ts';
import type { Fault } from './fault.ts';
import { type Open, runGuarded } from './guard.ts';
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

/** Runs all faults, or those whose names contain one of the arguments. @returns whether all is well */
export async function runDrill<Place extends Scene, Found extends Result>(
  drill: Drill<Place, Found>,
): Promise<boolean> {
  if (drill.missing.length > 0) {
    print(`The drill needs ${drill.missing.join(' and ')} on this machine.`);
    return false;
  }
  return runGuarded(drill.name, maxMinutes, (open) => runSelected(drill, open));
}

async function runSelected<Place extends Scene, Found extends Result>(
  drill: Drill<Place, Found>,
  open: Open,
): Promise<boolean> {
  const { noun, columns, tryOne, conclude = (_, summary) => summary } = drill;
  const selected = chosen(drill.faults);
  if (selected.length === 0) {
    print(`No ${noun} matches. Available: ${listNames(drill.faults)}.`);
    return false;
  }
  const begin = performance.now();
  const place = await open(drill.open);
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
  print(closing);
  return problems.length === 0;
}
