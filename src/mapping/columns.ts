import type { Choice } from './csv.ts';
import type { FieldSpec, FieldSpecs, RecordSpec } from './schema.ts';

/** The columns that the records of one type are made from. */
export interface RecordColumns {
  /** The only columns that are read. */
  readonly columns: readonly string[];
  /** Those that every file must have. */
  readonly requiredColumns: readonly string[];
  /** Fields with several sources, of which a file must have one. */
  readonly choices: readonly Choice[];
  /** Columns that must be empty, or the same as in the first row, in all rows of a group. */
  readonly sharedColumns: readonly string[];
}

/** @param dates which say when the export was made */
export function columnsOfRecord(spec: RecordSpec, dates: FieldSpecs): RecordColumns {
  const named = [
    ...Object.keys(spec.when),
    ...(spec.currency === undefined ? [] : [spec.currency]),
  ];
  const fields = [...specsOf(spec.fields), ...specsOf(dates)];
  const lineNames: string[] = [];
  const lineSpecs: FieldSpec[] = [];
  if (spec.type === 'subscription') {
    const { group, lines, statusEvents = [] } = spec;
    if (group !== undefined) named.push(group);
    for (const { when, ...event } of statusEvents) {
      named.push(...Object.keys(when));
      fields.push(...specsOf(event));
    }
    if (lines.packed && lines.from !== undefined) named.push(lines.from);
    // In a list, columns are looked up in its entries.
    if (lines.from === undefined) {
      lineNames.push(...Object.keys(lines.when));
      lineSpecs.push(...specsOf(lines.fields));
    }
  }
  const shared = [...fields.flatMap(columnsOf), ...named];
  const ofLines = [...lineNames, ...lineSpecs.flatMap(columnsOf)];
  // Each line may have its own plan; the subscription has that of the first line.
  const plan = specsOf({ planId: spec.fields['planId'] }).flatMap(columnsOf);
  const mayDiffer = new Set([...ofLines, ...plan]);
  const all = [...fields, ...lineSpecs];
  const plain = all.filter(({ anyOf }) => anyOf === undefined).flatMap(columnsOf);
  return {
    columns: [...new Set([...shared, ...ofLines])],
    requiredColumns: [...new Set([...plain, ...named, ...lineNames])],
    choices: all.flatMap(({ anyOf }) => (anyOf ? [anyOf.map(sourcesOf)] : [])),
    sharedColumns: [...new Set(shared)].filter((column) => !mayDiffer.has(column)),
  };
}

function specsOf(specs: FieldSpecs): FieldSpec[] {
  return Object.values(specs).filter((spec) => spec !== undefined);
}

/** The columns that a field's value is made from. */
function sourcesOf({ column, columns = [] }: FieldSpec): readonly string[] {
  return column === undefined ? columns : [column];
}

/** All columns that a field may read. */
function columnsOf(spec: FieldSpec): string[] {
  const { anyOf = [], when = {} } = spec;
  return [...sourcesOf(spec), ...Object.keys(when), ...anyOf.flatMap(columnsOf)];
}
