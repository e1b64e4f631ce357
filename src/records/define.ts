import { z } from 'zod';
import { type Checked, type CheckedFields, type Checks, shapeOf } from './fields.ts';

type Shape<Type extends string, F extends CheckedFields> = {
  readonly type: z.ZodLiteral<Type>;
} & { readonly [Name in keyof F]: ReturnType<F[Name]['schema']> };

interface Definition<Type extends string, F extends CheckedFields> {
  readonly table: string;
  /**
   * In the order in which they are digested: stored digests hold only while it stays, and new fields are
   * `f.optional`.
   */
  readonly fields: F;
  /** What the documentation says of fields, beside what their kinds say. */
  readonly about?: Partial<Record<(keyof F & string) | `${string}[].${string}`, string>>;
  /** What cannot be said of one field. */
  readonly rule?: (
    record: z.output<z.ZodObject<Shape<Type, F>>>,
    addProblem: (field: keyof F & string, sentence: string) => void,
  ) => void;
}

/** Declares a type of records. Whatever else has to know its fields reads them here. */
export function defineRecord<
  const Type extends string,
  F extends CheckedFields & { readonly id: Checked },
>(type: Type, { table, fields, about = {}, rule }: Definition<Type, F>) {
  return {
    type,
    table,
    idColumn: fields.id.column as string,
    fields,
    about: about as Readonly<Record<string, string | undefined>>,
    schema(checks: Checks): z.ZodObject<Shape<Type, F>> {
      const shape = { type: z.literal(type), ...shapeOf(fields, checks) };
      const schema = z.object(shape) as unknown as z.ZodObject<Shape<Type, F>>;
      if (!rule) return schema;
      return schema.superRefine((record, context) =>
        rule(record, (field, message) =>
          context.addIssue({ code: 'custom', path: [field], message }),
        ),
      );
    },
  };
}
