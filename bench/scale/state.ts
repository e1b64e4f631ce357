import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A figure by the name of its row. */
export type Rows = Readonly<Record<string, string>>;

/** What an import of a hundredth of a world took. */
export interface Portion {
  readonly records: number;
  readonly seconds: number;
  /** Microseconds of processor time, of this process and of PostgreSQL. */
  readonly cpu: number;
  readonly databaseCpu: number;
}

/** What is done, so that a run goes on where another one has stopped. */
export interface State {
  /** The end of the shops' history, in epoch milliseconds. */
  readonly endAt: number;
  /** Their sizes by the worlds' names. */
  readonly sizes: Readonly<
    Record<string, { readonly shops: number; readonly subscriptions: number }>
  >;
  readonly keys: Record<string, string[]>;
  readonly portions: Record<string, Portion[]>;
  /** The figures of each step, by its name and the world's. */
  readonly results: Record<string, Record<string, Rows>>;
}

const fileIn = (folder: string) => path.join(folder, 'state.json');

/** @param fresh the state of a new folder */
export function readState(folder: string, fresh: State): State {
  let state: State;
  try {
    state = JSON.parse(readFileSync(fileIn(folder), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fresh;
    throw error;
  }
  if (JSON.stringify(state.sizes) === JSON.stringify(fresh.sizes)) return state;
  throw new Error(`${folder} has other shops: ${JSON.stringify(state.sizes)}.`);
}

export function writeState(folder: string, state: State): void {
  writeFileSync(`${fileIn(folder)}.new`, JSON.stringify(state));
  renameSync(`${fileIn(folder)}.new`, fileIn(folder));
}
