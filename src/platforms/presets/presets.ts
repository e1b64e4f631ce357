import { readFile, readdir } from 'node:fs/promises';
import type { StreamSpec } from '../postgres/streams.ts';

/** A table that a login may read. */
export interface SourceTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of its primary key. */
  readonly key: readonly string[];
  /** The types of its columns, those of numbers and of texts alike. */
  readonly types: Readonly<Record<string, string>>;
  /** The columns in which no value occurs twice, by an index. */
  readonly unique: readonly string[];
  /** The columns that always have a value. */
  readonly filled: readonly string[];
  readonly references: readonly ForeignKey[];
}

/** A foreign key of one column. */
interface ForeignKey {
  readonly column: string;
  readonly schema: string;
  readonly table: string;
  readonly to: string;
}

/** What somebody's tables are called, and how they are read: a file of mappings/presets/. */
interface Preset {
  readonly title: string;
  /** What the tables do not say, for people. */
  readonly notes: readonly string[];
  /** The first tells the preset; of the others, those are read whose tables are there. */
  readonly streams: readonly PresetStream[];
}

interface PresetStream extends Omit<StreamSpec, 'query'> {
  /** Lines, in which a table's name in braces stands for it. */
  readonly query: readonly string[];
  /** The columns that its tables must have. */
  readonly needs: Columns;
  /** The same of tables that may be missing, and are empty then. */
  readonly mayHave?: Columns;
}

type Columns = Readonly<Record<string, readonly string[]>>;

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
    const has = ([needed, columns]: readonly [string, readonly string[]]) => {
      const there = tables.find((each) => each.name === prefix + needed)?.columns ?? [];
      return columns.every((column) => there.includes(column));
    };
    const usable = streams.filter(({ needs }) => Object.entries(needs).every(has));
    if (usable[0] !== first) continue;
    return {
      name,
      title,
      schema,
      notes,
      columns: usable.flatMap(({ needs }) => Object.values(needs).flat()).length,
      streams: usable.map(({ needs: _needs, mayHave = {}, query, ...spec }) => ({
        ...spec,
        query: query.join('\n').replaceAll(/\{(\w+)\}/g, (_, needed: string) => {
          const columns = mayHave[needed];
          return columns && !has([needed, columns])
            ? `(select ${columns.map((column) => `null as ${identifier(column)}`).join(', ')} where false)`
            : identifier(schema, prefix + needed);
        }),
      })),
    };
  }
  return undefined;
}

/** A table's name in a query. */
export function identifier(...parts: readonly string[]): string {
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}
