import { z } from 'zod';
import type { Clock } from '../clock.ts';
import {
  detectedReasons,
  discountTypes,
  failureCodeForm,
  failureCodePattern,
  failureKinds,
  intervalUnits,
  offerTypes,
  paymentStatuses,
  planTypes,
  sessionOutcomes,
  subscriptionStatuses,
} from '../vocabulary.ts';
import { type PaidPeriod, arePaidPeriods } from '../store/records/paid-periods.ts';
import { isInFuture, lyingInFuture } from './future.ts';
import { ids, listLimits } from './lists.ts';
import { joinProblems, parseWith } from './problems.ts';

export const recordTypes = [
  'plan',
  'subscription',
  'payment',
  'refund',
  'cancellation',
  'delete',
] as const;

/** An error message, as the end of a sentence about a field. */
const must = (be: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? 'is missing' : `must be ${be}`,
});

function integer(min: number, max: number) {
  const params = must(`an integer from ${min} to ${max}`);
  return z.int(params).min(min, params).max(max, params);
}
const integerUpTo = (max: number) => integer(1, max);

const id = integerUpTo(Number.MAX_SAFE_INTEGER);

const text = z
  .string()
  .max(1000)
  .refine((value) => value.isWellFormed() && !value.includes('\0'), {
    error: 'must be text without NUL or broken surrogates',
  });

const nonEmptyText = text.refine((value) => value.trim() !== '', { error: 'must not be empty' });

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(10_000, 0, 1);

/** ISO 8601 with an offset or Z, as epoch milliseconds; finer digits are truncated. */
const timestamp = z.iso
  .datetime({ offset: true, ...must('an ISO 8601 time with an offset or Z') })
  .transform((value) => Date.parse(value))
  .refine((value) => value >= earliest && value < latest, {
    error: 'must lie in the years 1970 to 9999',
  });

const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? null);

/** Leaves no key if absent, so that digests stay the same as before the field was added. */
const optionalField = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** The most decimals of a percentage; more than any shop's price list needs. */
const percentageDigits = 4;

/** A decimal of 0 or more, below 10^12, as text. Numbers are converted to their shortest form. */
function decimal(digits: number, what: string) {
  const pattern = new RegExp(digits === 0 ? '^\\d{1,12}$' : `^\\d{1,12}(\\.\\d{1,${digits}})?$`);
  return z
    .union([z.string(), z.number()], must(what))
    .transform(String)
    .refine((value) => pattern.test(value), must(what));
}

/**
 * The import's record schemas. They only parse; derived values are computed in rows.ts.
 * @param minorDigits decimals of the shop's currency; an amount with more is refused
 * @param clock the importer's; times of past events must not be ahead of it
 * @param isFromFeed whether records may keep stored data (`keeps`, `paidPeriods`); otherwise that
 *   is ignored
 */
function createRecordSchema(minorDigits: number, clock: Clock, isFromFeed: boolean) {
  const pastTimestamp = timestamp.refine((at) => !isInFuture(at, clock), {
    error: ({ input }) => lyingInFuture(Number(input)),
  });
  const ofFeed = <T extends z.ZodType>(schema: T) =>
    z.preprocess((value) => (isFromFeed ? value : undefined), optionalField(schema));
  const keeps = <Word extends string>(...words: readonly Word[]) => ofFeed(z.enum(words));

  const precision = minorDigits === 0 ? 'without' : `with at most ${minorDigits}`;
  const amount = decimal(minorDigits, `an amount of 0 or more, below 10^12, ${precision} decimals`);
  const share = `a percentage from 0 to 100 with at most ${percentageDigits} decimals`;
  const percentage = decimal(percentageDigits, share).refine(
    (value) => Number(value) <= 100,
    must(share),
  );

  const pricing = z.discriminatedUnion(
    'discountType',
    [
      z.object({
        discountType: z.literal('percentage'),
        discountValue: percentage,
        summary: optional(text),
      }),
      z.object({
        discountType: z.enum(['fixed_amount', 'price']),
        discountValue: amount,
        summary: optional(text),
      }),
      z.object({
        discountType: z.literal('none'),
        discountValue: decimal(0, '0')
          .refine((value) => value === '0', must('0'))
          .default('0'),
        summary: optional(text),
      }),
    ],
    { error: oneOfTypes(discountTypes, 'must be an object') },
  );

  const interval = {
    intervalUnit: z.enum(intervalUnits),
    intervalCount: integerUpTo(1000),
  };

  const plan = z.object({
    type: z.literal('plan'),
    id,
    name: nonEmptyText,
    groupName: optional(text),
    planType: z.enum(planTypes),
    ...interval,
    active: z.boolean().default(true),
    productIds: ids.default([]),
    productCount: optionalField(integer(0, 100_000)),
    pricing: optional(pricing),
    updatedAt: optional(pastTimestamp),
    // 'plan': a placeholder, so that a stored plan stays. 'membership': that plan type stays.
    keeps: keeps('plan', 'membership'),
  });

  const line = z.object({
    lineId: id,
    productId: id,
    productTitle: text,
    variantId: id,
    variantTitle: optional(text),
    quantity: integerUpTo(1_000_000),
    currentPrice: amount,
  });

  const subscription = z
    .object({
      type: z.literal('subscription'),
      id,
      customerId: id,
      planId: id,
      status: z.enum(subscriptionStatuses),
      createdAt: pastTimestamp,
      updatedAt: optional(pastTimestamp),
      nextBillingDate: optional(timestamp),
      paidThroughAt: optional(timestamp),
      statusEvents: z
        .array(z.object({ at: pastTimestamp, to: z.enum(subscriptionStatuses) }))
        .max(listLimits.statusEvents)
        .nullish()
        .transform((events) => events ?? []),
      intervalUnit: optional(interval.intervalUnit),
      intervalCount: optional(interval.intervalCount),
      // The stored status history stays, and a changed status is added to it.
      keeps: keeps('history'),
      // Replace paidThroughAt, together with those that are stored.
      paidPeriods: ofFeed(z.custom<readonly PaidPeriod[]>(arePaidPeriods)),
      lines: z.array(line).min(1).max(listLimits.lines),
    })
    .superRefine((record, context) => {
      const addIssue = (path: string, message: string) =>
        context.addIssue({ code: 'custom', path: [path], message });
      const { lines, statusEvents: events } = record;
      if (new Set(lines.map((each) => each.lineId)).size < lines.length) {
        addIssue('lines', 'must not have the same lineId twice');
      }
      if (events.some((event, index) => index > 0 && event.at < (events[index - 1]?.at ?? 0))) {
        addIssue('statusEvents', 'must be oldest first');
      }
      if (events.length > 0 && events.at(-1)?.to !== record.status) {
        addIssue('statusEvents', `must end in the status, ${record.status}`);
      }
      if ((record.intervalUnit === null) !== (record.intervalCount === null)) {
        addIssue('intervalCount', 'and intervalUnit must be given together');
      }
    });

  const cycle = must('text or an integer');
  const code = must(failureCodeForm);
  const payment = z.object({
    type: z.literal('payment'),
    id,
    subscriptionId: id,
    cycle: z.union([nonEmptyText.max(200), z.int(cycle)], cycle).transform(String),
    status: z.enum(paymentStatuses),
    failureKind: optional(z.enum(failureKinds)),
    failureCode: optionalField(z.string(code).regex(failureCodePattern, code)),
    amount,
    processedAt: pastTimestamp,
    updatedAt: optional(pastTimestamp),
    keeps: keeps('amount'),
  });

  const refund = z.object({
    type: z.literal('refund'),
    id,
    paymentId: id,
    amount,
    refundedAt: pastTimestamp,
    updatedAt: optional(pastTimestamp),
    keeps: keeps('amount'),
  });

  const cancellation = z.object({
    type: z.literal('cancellation'),
    id,
    subscriptionId: optional(id),
    detectedReason: z.enum(detectedReasons),
    offerType: optional(z.enum(offerTypes)),
    outcome: optional(z.enum(sessionOutcomes)),
    createdAt: pastTimestamp,
    updatedAt: optional(pastTimestamp),
    // The source names no time, so that a stored one stays.
    keeps: keeps('createdAt'),
  });

  const deletion = z.object({
    type: z.literal('delete'),
    record: z.enum(['plan', 'subscription', 'payment', 'refund', 'cancellation']),
    id,
  });

  const record = z.discriminatedUnion(
    'type',
    [plan, subscription, payment, refund, cancellation, deletion],
    { error: oneOfTypes(recordTypes, 'the line is not a JSON object') },
  );
  // Takes a sixth of the time for a valid record; an invalid one is then read again, for its problems.
  return z.compile(record, { strict: true });
}

export type RecordSchema = ReturnType<typeof createRecordSchema>;

const schemas = new WeakMap<Clock, Map<string, RecordSchema>>();

/** The same, created once for each clock: that takes as long as reading a thousand records. */
export function recordSchema(minorDigits: number, clock: Clock, isFromFeed = false): RecordSchema {
  const create = () => createRecordSchema(minorDigits, clock, isFromFeed);
  const ofClock = schemas.getOrInsertComputed(clock, () => new Map());
  return ofClock.getOrInsertComputed(`${minorDigits} ${isFromFeed}`, create);
}

export type ImportRecord = z.output<RecordSchema>;
export type RecordOf<Type extends ImportRecord['type']> = Extract<ImportRecord, { type: Type }>;

export type TargetType = RecordOf<'delete'>['record'];

/** Children first: a plan cannot be deleted while a subscription uses it. */
export const deletionOrder = [
  'cancellation',
  'refund',
  'payment',
  'subscription',
  'plan',
] as const satisfies readonly TargetType[];

/** The type of the record that is written or deleted. */
export function targetTypeOf(record: ImportRecord): TargetType {
  return record.type === 'delete' ? record.record : record.type;
}

/** Messages for a union of types: the type is wrong, or the value is not an object. */
function oneOfTypes(types: readonly string[], notAnObject: string) {
  return ({ code }: z.core.$ZodRawIssue) =>
    code === 'invalid_union' ? `must be one of ${types.join(', ')}` : notAnObject;
}

/** The record, or one line about its invalid fields and what is expected of them. */
export function parseRecord(
  schema: RecordSchema,
  value: unknown,
): { record: ImportRecord } | { problem: string } {
  const parsed = parseWith(schema, value);
  return 'data' in parsed ? { record: parsed.data } : { problem: joinProblems(parsed.problems) };
}
