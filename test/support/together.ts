import { globSync } from 'node:fs';
import path from 'node:path';
import { after, describe } from 'node:test';
import { keepCompiled } from '../../src/store/embedded/compiled.ts';
import { closeStores } from './databases.ts';
import { restartTimeLimit } from './time-limit.ts';

const root = path.join(import.meta.dirname, '..', '..');

/**
 * Runs test files one after the other in this process: loading the service costs more than most of them.
 * Each is a suite with hooks of its own, and is loaded when the one before has ended.
 */
export async function runTogether(...patterns: readonly string[]): Promise<void> {
  const files = globSync(patterns, { cwd: root }).toSorted();
  if (files.length === 0) throw new Error(`There is no file ${patterns.join(', ')}.`);
  await keepCompiled();
  for (const file of files) {
    restartTimeLimit(file);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    describe(file, async () => {
      after(() => end());
      try {
        await import(path.join(root, file));
      } catch (error) {
        end();
        throw error;
      }
    });
    await ended;
  }
  await closeStores();
}
