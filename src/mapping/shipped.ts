import { readFile } from 'node:fs/promises';
import { parseMapping } from './read.ts';
import type { Mapping } from './schema.ts';

const folder = new URL('../../mappings/', import.meta.url);
const read = new Map<string, Promise<Mapping | undefined>>();

/**
 * A mapping that comes with the service, by its name: the name of its file without `.json`.
 * @returns undefined if there is none
 */
export function findShippedMapping(name: string): Promise<Mapping | undefined> {
  if (!/^[a-z0-9-]{1,60}$/.test(name)) return Promise.resolve(undefined);
  const known = read.get(name) ?? load(name);
  known.then(
    (mapping) => mapping && read.set(name, known),
    () => {},
  );
  return known;
}

async function load(name: string): Promise<Mapping | undefined> {
  const file = `${name}.json`;
  let text: string;
  try {
    text = await readFile(new URL(file, folder), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return parseMapping(file, text);
}
