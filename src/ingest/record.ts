import { z } from 'zod';
import {
  detectedReasons,
  discountTypes,
  failureKinds,
  intervalUnits,
  offerTypes,
  paymentStatuses,
  planTypes,
  sessionOutcomes,
  subscriptionStatuses,
} from '../vocabulary.ts';

export const recordTypes = [
  'plan',
  'subscription',
  'payment',
  'refund',
  'cancellation',
  'delete',
] as const;

const id = z.int({ error: 'must be an integer from 1 to 9007199254740991' }).min(1);

const text = z
  .string()
  .max(1000)
  .refine((value) => value.isWellFormed() && !value.includes('\0'), {
    error: 'must be text without NUL or broken surrogates',
  });

const named = text.refine((value) => value.trim() !== '', { error: 'must not be empty' });

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(10_000, 0, 1);

/** ISO 8601 with an offset or Z, to epoch milliseconds; finer digits are cut off. */
const timestamp = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with an offset or Z' })
  .transform((value) => Date.parse(value))
  .refine((value) => value >= earliest && value < latest, {
    error: 'must lie in the years 1970 to 9999',
  });

const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? null);

/** How many decimals a percentage may have: more than any shop's price list needs. */
const percentageDigits = 4;

/** A decimal of 0 or more, below 10^12, as text; numbers are taken by their shortest digits. */
function decimal(digits: number, what: string) {
  const pattern = new RegExp(digits === 0 ? '^\\d{1,12}$' : `^\\d{1,12}(\\.\\d{1,${digits}})?$`);
  return z
    .union([z.string(), z.number()], { error: `must be ${what}` })
    .transform(String)
    .refine((value) => pattern.test(value), { error: `must be ${what}` });
}

/**
 * The import's record schemas. They only read: what is derived is worked out in rows.ts.
 * @param minorDigits decimals of the shop's currency; an amount with more is refused
 */
export function createRecordSchema(minorDigits: number) {
  const amount = decimal(
    minorDigits,
    `an amount of 0 or more, below 10^12, with at most ${minorDigits} decimals`,
  );
  const percentage = decimal(percentageDigits, 'a percentage from 0 to 100').refine(
    (value) => Number(value) <= 100,
    { error: 'must be a percentage from 0 to 100' },
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
          .refine((value) => value === '0', { error: 'must be 0' })
          .default('0'),
        summary: optional(text),
      }),
    ],
    { error: `discountType must be one of ${discountTypes.join(', ')}` },
  );

  const interval = {
    intervalUnit: z.enum(intervalUnits),
    intervalCount: z.int().min(1).max(1000),
  };

  const plan = z.object({
    type: z.literal('plan'),
    id,
    name: named,
    groupName: optional(text),
    planType: z.enum(planTypes),
    ...interval,
    active: z.boolean().default(true),
    productIds: z.array(id).max(100_000).default([]),
    pricing: optional(pricing),
    updatedAt: optional(timestamp),
  });

  const line = z.object({
    lineId: id,
    productId: id,
    productTitle: text,
    variantId: id,
    variantTitle: optional(text),
    quantity: z.int().min(1).max(1_000_000),
    currentPrice: amount,
  });

  const subscription = z
    .object({
      type: z.literal('subscription'),
      id,
      customerId: id,
      planId: id,
      status: z.enum(subscriptionStatuses),
      createdAt: timestamp,
      updatedAt: optional(timestamp),
      nextBillingDate: optional(timestamp),
      paidThroughAt: optional(timestamp),
      statusEvents: z
        .array(z.object({ at: timestamp, to: z.enum(subscriptionStatuses) }))
        .max(10_000)
        .nullish()
        .transform((events) => events ?? []),
      intervalUnit: optional(interval.intervalUnit),
      intervalCount: optional(interval.intervalCount),
      lines: z.array(line).min(1).max(250),
    })
    .superRefine((record, context) => {
      const wrong = (path: string, message: string) =>
        context.addIssue({ code: 'custom', path: [path], message });
      const { lines, statusEvents: events } = record;
      if (new Set(lines.map((each) => each.lineId)).size < lines.length) {
        wrong('lines', 'must not have the same lineId twice');
      }
      if (events.some((event, index) => index > 0 && event.at < (events[index - 1]?.at ?? 0))) {
        wrong('statusEvents', 'must be oldest first');
      }
      if (events.length > 0 && events.at(-1)?.to !== record.status) {
        wrong('statusEvents', `must end in the status, ${record.status}`);
      }
      if ((record.intervalUnit === null) !== (record.intervalCount === null)) {
        wrong('intervalCount', 'and intervalUnit must be given together');
      }
    });

  const payment = z.object({
    type: z.literal('payment'),
    id,
    subscriptionId: id,
    cycle: z
      .union([named.max(200), z.int()], { error: 'must be text or an integer' })
      .transform(String),
    status: z.enum(paymentStatuses),
    failureKind: optional(z.enum(failureKinds)),
    amount,
    processedAt: timestamp,
    updatedAt: optional(timestamp),
  });

  const refund = z.object({
    type: z.literal('refund'),
    id,
    paymentId: id,
    amount,
    refundedAt: timestamp,
    updatedAt: optional(timestamp),
  });

  const cancellation = z.object({
    type: z.literal('cancellation'),
    id,
    subscriptionId: optional(id),
    detectedReason: z.enum(detectedReasons),
    offerType: optional(z.enum(offerTypes)),
    outcome: optional(z.enum(sessionOutcomes)),
    createdAt: timestamp,
    updatedAt: optional(timestamp),
  });

  const deletion = z.object({
    type: z.literal('delete'),
    record: z.enum(['plan', 'subscription', 'payment', 'refund', 'cancellation']),
    id,
  });

  return z.discriminatedUnion(
    'type',
    [plan, subscription, payment, refund, cancellation, deletion],
    { error: `type must be one of ${recordTypes.join(', ')}` },
  );
}

export type ImportRecord = z.output<ReturnType<typeof createRecordSchema>>;
export type RecordOf<Type extends ImportRecord['type']> = Extract<ImportRecord, { type: Type }>;

/** One line: every field that is wrong, and what would be right. */
export function describeProblems(error: z.ZodError): string {
  return error.issues
    .map((issue) => {
      const path = issue.path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
        .join('')
        .replace(/^\./, '');
      return path === '' || issue.message.startsWith(path)
        ? describe(issue)
        : `${path} ${describe(issue)}`;
    })
    .join('; ');
}

/** zod's own messages begin with capitals and speak of input; ours end a sentence about a field. */
function describe(issue: z.core.$ZodIssue): string {
  if (issue.message.endsWith('received undefined')) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.startsWith('Invalid input')
        ? `must be ${issue.expected}`
        : issue.message;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${issue.origin === 'array' ? ' long' : ''}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${issue.origin === 'array' || issue.origin === 'string' ? ' long' : ''}`;
    default:
      return issue.message;
  }
}
