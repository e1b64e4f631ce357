import { z } from 'zod';
import { encodings } from './encoding.ts';
import {
  type Field,
  type Fields,
  exportDateField,
  fieldsOf,
  lineFields,
  statusEventFields,
  valueEventFields,
} from './fields.ts';
import { isTimeZone, needsTimeZone, problemOfTime } from './times.ts';
import { type Formats, readConstant } from './values.ts';

/** An object with no other keys than these. */
function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has unknown keys: ${issue.keys.map((key) => `"${key}"`).join(', ')}; known keys are ${known}`
        : issue.input === undefined
          ? 'is missing'
          : 'must be an object',
  });
}

const column = z.string().min(1);

/** A delimiter or quote, which cannot be a line break. */
const character = z.string().refine((text) => /^[^\r\n]$/.test(text), {
  error: 'must be one character other than a line break',
});

function oneOf(issue: z.core.$ZodRawIssue, choices: string): string {
  if (issue.input === undefined) return 'is missing';
  return issue.code === 'invalid_union' ? `must be one of ${choices}` : 'must be an object';
}

const encoding = z.enum(encodings).default('utf-8');

const input = z
  .discriminatedUnion(
    'format',
    [
      strict({
        format: z.literal('csv'),
        encoding,
        delimiter: character.default(','),
        quote: character.default('"'),
        header: z
          .union([z.literal(true), z.array(column).min(1)], {
            error: 'must be true, or a list of the column names if the file has none',
          })
          .default(true),
        skipLines: z
          .number({ error: 'must be a number of lines, from 0 to 1,000' })
          .int()
          .min(0)
          .max(1000)
          .default(0),
      }),
      strict({ format: z.literal('ndjson'), encoding }),
      strict({ format: z.literal('json'), encoding, list: z.string().default('') }),
      strict({ format: z.literal('any'), encoding, list: z.string().default('') }),
    ],
    { error: (issue) => oneOf(issue, 'csv, ndjson, json, any') },
  )
  .refine((value) => value.format !== 'csv' || value.delimiter !== value.quote, {
    path: ['quote'],
    error: 'must not be the delimiter',
  });

const formatShapes = {
  ids: { ids: z.enum(['number', 'text']).optional() },
  time: {
    time: z
      .string()
      .superRefine((format, context) => {
        const problem = problemOfTime(format);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      })
      .optional(),
    timeZone: z
      .string()
      .refine(isTimeZone, { error: 'must be an IANA time zone, such as UTC or America/New_York' })
      .optional(),
  },
  amount: {
    decimal: z.enum(['.', ',']).optional(),
    thousands: z.enum([',', '.', ' ', "'"]).optional(),
    minorUnits: z.boolean().optional(),
    round: z.boolean().optional(),
    negatives: z.literal('zero').optional(),
    signs: z.array(z.string().min(1)).optional(),
  },
};

const allFormats = strict({
  blank: z.array(z.string().min(1)).min(1).optional(),
  ...formatShapes.ids,
  ...formatShapes.time,
  ...formatShapes.amount,
});

const shapesByKind: Partial<Record<Field['kind'], z.ZodRawShape>> = {
  id: formatShapes.ids,
  ids: formatShapes.ids,
  time: formatShapes.time,
  amount: formatShapes.amount,
};

const condition = strict({
  is: z.array(z.string()).min(1).optional(),
  isNot: z.array(z.string()).min(1).optional(),
}).refine((value) => (value.is === undefined) !== (value.isNot === undefined), {
  error: 'must have is or isNot: a list of values, "" for an empty one',
});
const conditions = z.record(column, condition);
export type Conditions = z.output<typeof conditions>;

type Constant = string | number | boolean;

/** Where the value of a field comes from, and how it is parsed. */
export interface FieldSpec extends Formats {
  /** Several sources: the first that applies to a row and is not empty gives the value. */
  readonly anyOf?: readonly FieldSpec[] | undefined;
  readonly column?: string | undefined;
  /** Several columns, whose texts are joined by the separator. */
  readonly columns?: readonly string[] | undefined;
  readonly separator?: string | undefined;
  /** The number of the line that the row starts on, for ids in files that have none. */
  readonly line?: true | undefined;
  /** A constant. */
  readonly value?: Constant | undefined;
  /** An id derived from the whole row, or the time when the row was read. */
  readonly generate?: 'digest' | 'time' | undefined;
  /** Maps the file's values to constants. */
  readonly table?: Readonly<Record<string, Constant>> | undefined;
  /** For values that the table does not have. Without it, rows with such values are refused. */
  readonly otherwise?: Constant | undefined;
  /** Replaces an empty value. */
  readonly empty?: Constant | undefined;
  /** Which rows have the field; in others it is omitted. */
  readonly when?: Conditions | undefined;
}

/**
 * The `formats` of the mapping that is being parsed, the defaults of its fields. Here, and not a parameter,
 * because building the schema takes far longer than parsing with it, so one serves all mappings.
 */
let defaults: Formats = {};

function fieldSchema(field: Field, isAlternative = false): z.ZodType<FieldSpec> {
  const constant = z
    .union([z.string(), z.number(), z.boolean()], {
      error: 'must be text, a number, true or false',
    })
    .superRefine((value, context) => {
      const reading = readConstant(field, value);
      if ('wrong' in reading) context.addIssue({ code: 'custom', message: reading.wrong });
    });
  const generator = generatorOf(field);
  const spec = strict({
    column: column.optional(),
    ...((field.kind === 'text' || field.kind === 'id') && {
      columns: z.array(column).min(1).optional(),
      separator: z.string().optional(),
    }),
    ...(field.kind === 'id' && { line: z.literal(true).optional() }),
    value: constant.optional(),
    ...(generator && { generate: z.literal(generator).optional() }),
    ...(!isAlternative && {
      anyOf: z
        .array(fieldSchema({ ...field, required: false }, true))
        .min(2)
        .optional(),
    }),
    table: z.record(z.string(), constant).optional(),
    otherwise: constant.optional(),
    empty: constant.optional(),
    ...(!field.required && { when: conditions.optional() }),
    ...shapesByKind[field.kind],
  }) as unknown as z.ZodType<FieldSpec>;
  return z.preprocess(
    (value) => (typeof value === 'string' ? { column: value } : value),
    spec.superRefine((value, context) => {
      const problem = problemOfSpec(field, value, isAlternative);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    }),
  );
}

/** What a mapping can have instead of a value of the file. */
function generatorOf(field: Field): FieldSpec['generate'] {
  if (field.kind === 'id') return 'digest';
  return field.kind === 'time' && field.mayBeGenerated ? 'time' : undefined;
}

function problemOfSpec(field: Field, spec: FieldSpec, isAlternative: boolean): string | undefined {
  const { anyOf, column: one, columns, line, value, generate, when: _, ...others } = spec;
  const sources = [anyOf, one, columns, line, value, generate].filter((each) => each !== undefined);
  if (sources.length !== 1) {
    const several = { id: ['columns', 'line'], text: ['columns'] }[field.kind as string] ?? [];
    const generator = generatorOf(field) ? ['generate'] : [];
    const choice = isAlternative ? [] : ['anyOf'];
    const names = ['column', ...several, 'value', ...generator, ...choice];
    return `must have one of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  }
  if (anyOf) {
    const [first] = Object.keys(others);
    return first === undefined ? undefined : `has anyOf; put ${first} into its entries`;
  }
  if (generate) return undefined;
  if (spec.otherwise !== undefined && spec.table === undefined) {
    return 'has otherwise, which needs a table';
  }
  if (spec.columns && field.kind === 'id' && (spec.ids ?? defaults.ids) !== 'text') {
    return 'joins columns, which needs "ids": "text"';
  }
  const { time = 'iso', timeZone } = { ...defaults, ...spec };
  if (field.kind === 'time' && spec.value === undefined && needsTimeZone(time) && !timeZone) {
    return 'needs a timeZone, such as UTC or America/New_York: its times have no offset';
  }
  const { decimal = '.', thousands } = { ...defaults, ...spec };
  if (field.kind === 'amount' && decimal === thousands) {
    return 'must not use the same character for decimal and thousands';
  }
  return undefined;
}

function fieldsSchema(fields: Fields) {
  return strict(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => {
        const spec = fieldSchema(field);
        return [name, field.required ? spec : spec.optional()];
      }),
    ),
  ) as unknown as z.ZodType<FieldSpecs>;
}

/** How a list is written in one column, such as "id:5|quantity:1;id:6|quantity:2". */
const packed = strict({
  entries: character.default(';'),
  fields: character.default('|'),
  value: character.default(':'),
});
export type Packed = z.output<typeof packed>;

export type FieldSpecs = Readonly<Record<string, FieldSpec | undefined>>;

/** Where the parts of a record come from: the rows of a group, or a list in a row. */
const parts = { from: column.optional(), packed: packed.optional(), when: conditions.default({}) };
const needsFrom = z.refine<{ readonly packed?: unknown; readonly from?: unknown }>(
  (list) => !list.packed || list.from !== undefined,
  { path: ['packed'], error: 'needs from: the column of the list' },
);

function createMappingSchema() {
  const base = { when: conditions.default({}), currency: column.optional() };
  const simple = <Type extends Exclude<keyof typeof fieldsOf, 'subscription'>>(type: Type) =>
    strict({ type: z.literal(type), ...base, fields: fieldsSchema(fieldsOf[type]) });
  const subscription = strict({
    type: z.literal('subscription'),
    ...base,
    group: column.optional(),
    fields: fieldsSchema(fieldsOf.subscription),
    lines: strict({
      ...parts,
      prices: z.enum(['unit', 'line']).default('unit'),
      fields: fieldsSchema(lineFields),
    }).check(needsFrom),
    /** What stays as it is stored where a row does not have it, and meets the conditions. */
    keeps: strict({ trialEndsAt: conditions.optional() }).default({}),
    /** What is said of rows that are stored although something is missing. */
    warnings: z.array(strict({ when: conditions, text: column })).default([]),
    statusEvents: z
      .array(
        strict({
          when: conditions.default({}),
          at: fieldSchema(statusEventFields.at),
          to: fieldSchema(statusEventFields.to),
          until: fieldSchema(statusEventFields.until).optional(),
        }),
      )
      .min(1)
      .optional(),
    valueEvents: strict({ ...parts, fields: fieldsSchema(valueEventFields) })
      .check(needsFrom)
      .optional(),
  }).refine((value) => value.group === undefined || value.lines.from === undefined, {
    path: ['group'],
    error:
      'and lines.from must not be given together: lines come either from rows or from a list in a row',
  });
  const record = z.discriminatedUnion(
    'type',
    [simple('plan'), subscription, simple('payment'), simple('refund'), simple('cancellation')],
    { error: (issue) => oneOf(issue, Object.keys(fieldsOf).join(', ')) },
  );
  return strict({
    about: z.string().optional(),
    input,
    /** Whose rows these are, for what no rule can say. */
    vendor: z.enum(['chargebee', 'recurly', 'stripe']).optional(),
    formats: allFormats.default({}),
    /** When the export was made. */
    asOf: fieldSchema(exportDateField).optional(),
    records: z.array(record).min(1),
  });
}

type MappingSchema = ReturnType<typeof createMappingSchema>;
export type Mapping = z.output<MappingSchema>;
export type RecordSpec = Mapping['records'][number];

const onlyFormats = z.object({ formats: allFormats });
let schema: MappingSchema | undefined;

/**
 * The schema for a mapping, which must be parsed with it at once, before another one is asked for.
 * @param raw the parsed mapping file
 */
export function mappingSchemaFor(raw: unknown): MappingSchema {
  const { success, data } = onlyFormats.safeParse(raw);
  defaults = success ? data.formats : {};
  return (schema ??= createMappingSchema());
}
