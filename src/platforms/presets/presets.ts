import { readFile, readdir } from 'node:fs/promises';
import type { StreamSpec } from '../postgres/streams.ts';

/** A table that a login may read. */
export interface SourceTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of its primary key. */
  readonly key: readonly string[];
}

/** What somebody's tables are called, and how they are read: a file of mappings/presets/. */
interface Preset {
  readonly title: string;
  /** What the tables do not say, for people. */
  readonly notes: readonly string[];
  /** The first tells the preset; of streams with one name, the first whose tables are all there is meant. */
  readonly streams: readonly PresetStream[];
}

interface PresetStream extends StreamSpec {
  /** The columns that its tables must have. In the query, a table's name in braces stands for it. */
  readonly needs: Readonly<Record<string, readonly string[]>>;
}

export interface FoundPreset {
  readonly name: string;
  readonly title: string;
  readonly schema: string;
  readonly notes: readonly string[];
  readonly streams: readonly StreamSpec[];
}

const folder = new URL('../../../mappings/presets/', import.meta.url);

async function readPresets(): Promise<readonly (Preset & { readonly name: string })[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).toSorted();
  return Promise.all(
    files.map(async (file) => ({
      ...(JSON.parse(await readFile(new URL(file, folder), 'utf8')) as Preset),
      name: file.slice(0, -'.json'.length),
    })),
  );
}

export async function listPresetTitles(): Promise<readonly string[]> {
  return (await readPresets()).map(({ title }) => title);
}

/** The presets whose tables are there, in each schema; what needs the most columns comes first. */
export async function findPresets(tables: readonly SourceTable[]): Promise<readonly FoundPreset[]> {
  const bySchema = Map.groupBy(tables, ({ schema }) => schema);
  const found = (await readPresets()).flatMap((preset) =>
    [...bySchema.values()].flatMap((each) => fit(preset, each) ?? []),
  );
  return found.toSorted((a, b) => b.columns - a.columns);
}

const byLength = (a: SourceTable, b: SourceTable) => a.name.length - b.name.length;

function fit(
  { name, title, notes, streams }: Preset & { readonly name: string },
  tables: readonly SourceTable[],
) {
  const [first] = streams;
  const [telling = ''] = Object.keys(first?.needs ?? {});
  // Loaders can put a prefix before the names of all tables.
  const candidates = tables.filter((each) => each.name.endsWith(telling));
  for (const { schema, name: table } of candidates.toSorted(byLength)) {
    const prefix = table.slice(0, -telling.length);
    const isThere = ([needed, columns]: readonly [string, readonly string[]]) => {
      const has = new Set(tables.find((each) => each.name === prefix + needed)?.columns);
      return columns.every((column) => has.has(column));
    };
    const usable = streams.filter(({ needs }) => Object.entries(needs).every(isThere));
    const specs = usable.filter(
      (each) => each === usable.find((other) => other.name === each.name),
    );
    if (specs[0]?.name !== first?.name) continue;
    return {
      name,
      title,
      schema,
      notes,
      columns: specs.flatMap(({ needs }) => Object.values(needs).flat()).length,
      streams: specs.map(({ needs, query, ...spec }) => ({
        ...spec,
        query: query.replaceAll(/\{(\w+)\}/g, (text, needed: string) =>
          Object.hasOwn(needs, needed) ? identifier(schema, prefix + needed) : text,
        ),
      })),
    };
  }
  return undefined;
}

/** A table's name in a query. */
export function identifier(...parts: readonly string[]): string {
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}
