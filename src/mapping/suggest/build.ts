import {
  Commented,
  type Notes,
  withDoubt,
  createdAtField,
  idField,
  ifEmpty,
  priceField,
  quantityField,
  statusTable,
  timeField,
} from './document.ts';
import type { Relations, RoleContext } from './answers.ts';
import type { IntervalRole } from './plan-roles.ts';
import { type Roles, usedTimes } from './roles.ts';
import type { Input } from './head.ts';
import type { SubscriptionStatus } from '../../vocabulary.ts';
import type { StatusRole } from './status-role.ts';
import { type TimeRole, activeWith, hasFuture } from './time-roles.ts';
import type { RowKind } from './kind.ts';
import type { Column, Table } from './table.ts';

/** `now` is the date of the export. */
export interface BuildContext extends RoleContext {
  readonly kind: RowKind;
  readonly notes: Notes;
  /** The shop's. */
  readonly currency: string;
}

/** A mapping with comments, for a file whose columns stand for this. */
export function buildMapping(
  { input, columns }: Table,
  roles: Roles,
  { now, currency, kind, notes, relations }: BuildContext,
): unknown {
  const { group } = relations;
  const plan = planColumns(roles, relations);
  const { status, isLive, events, skipped } = statusParts(roles, now);
  const when = conditionsOf(columns, skipped);
  const records = [
    {
      type: 'plan',
      when,
      fields: notes.fields('plan', planFields(roles, plan)),
    },
    {
      type: 'subscription',
      when,
      ...notes.fields('subscription', { currency: roles.currency?.name }),
      group: group?.by,
      fields: notes.fields('subscription', {
        id: idField(roles.ids.subscription, 'subscriptions'),
        customerId: idField(roles.ids.customer, 'customers'),
        planId: planField(plan.id, 1),
        // Where the plan is refused, the subscription is, too.
        ...(roles.interval.isPartial &&
          !group &&
          intervalFields({ ...roles.interval, doubt: undefined })),
        status,
        createdAt: createdAtField(roles, now),
        updatedAt: roles.updated && timeField(roles.updated),
        nextBillingDate: roles.next && timeField(roles.next, { when: isLive }),
        paidThroughAt: roles.paidThrough && timeField(roles.paidThrough),
        trialEndsAt: roles.trialEnd && timeField(roles.trialEnd, {}, roles.trialEnd.caution),
      }),
      lines: {
        fields: notes.fields('line', {
          ...(group && {
            lineId: { column: group.line, empty: 1 },
            ...intervalFields(roles.interval),
          }),
          ...lineFields(roles, currency),
        }),
      },
      statusEvents: events?.map((event) => notes.fields('end', event)),
    },
  ];
  return documentOf(
    input,
    blanksOf(roles),
    withDoubt(records, kind.isUnsure ? kind.reason : undefined),
  );
}

/** @param blanks texts that stand for an empty value */
export function documentOf(input: Input, blanks: unknown, records: unknown): object {
  return {
    about: 'Suggested by "retention mapping suggest".',
    input: inputOf(input),
    formats: { ids: 'text', timeZone: 'UTC', blank: blanks },
    records,
  };
}

function planFields(roles: Roles, { id, name }: PlanColumns): object {
  return {
    id: planField(id, 1),
    name: planField(name, 'Subscription'),
    planType: { value: 'subscription' },
    ...intervalFields(roles.interval),
  };
}

/** Marks of loaders and sources for rows that were deleted there: a flag, or when that was. */
const deletions =
  /^(?:_fivetran_deleted|_*is_?deleted|__deleted|_ab_cdc_deleted_at|_sdc_deleted_at|_dlt_deleted)$/i;

/** Which rows give records: none that the source deleted, or whose status says that they never were. */
export function conditionsOf(columns: readonly Column[], skipped: Condition | undefined): unknown {
  const marks = columns.filter(({ name }) => deletions.test(name));
  if (marks.length === 0)
    return skipped && withDoubt(skipped, 'rows with these values are skipped');
  const deleted = Object.fromEntries(
    marks.map(({ name, blanks }) => [
      name,
      name.endsWith('_at')
        ? { is: ['', ...blanks] }
        : { isNot: ['true', 'True', 'TRUE', 't', '1'] },
    ]),
  );
  const all = { ...deleted, ...skipped };
  return skipped
    ? withDoubt(all, 'rows that the source deleted, and rows with these values, are skipped')
    : new Commented(all, ['rows that the source deleted are skipped']);
}

/** The input of a mapping, without what is the default. */
export function inputOf(input: Input): object {
  const encoding = input.encoding === 'utf-8' ? undefined : input.encoding;
  if (input.format === 'ndjson') return { format: 'ndjson', encoding };
  if (input.format === 'json') return { format: 'json', encoding, list: input.list || undefined };
  const { delimiter, quote, header, skipLines } = input;
  const names = withDoubt(header, 'the first row seems to be data, so columns are named by number');
  return {
    format: 'csv',
    encoding,
    delimiter: delimiter === ',' ? undefined : delimiter,
    quote: quote === '"' ? undefined : quote,
    header: header === true ? undefined : names,
    skipLines: skipLines === 0 ? undefined : new Commented(skipLines, ['lines above the table']),
  };
}

/** Whether rows with the same text in one column have the same in another. */
const follows = ({ texts }: Column, from: Column) =>
  new Set(from.texts.map((text, row) => JSON.stringify([text, texts[row]]))).size ===
  new Set(from.texts).size;

interface PlanColumns {
  readonly id: readonly Column[];
  readonly name: readonly Column[];
}

/** One plan for each combination, since a plan has one interval; unless that follows from its id. */
function planColumns({ plan, interval }: Roles, { joined }: Relations): PlanColumns {
  const free = interval.columns.filter(({ name }) => !plan || joined.get(name) !== plan.id.name);
  const isNameEnough = plan === undefined || plan.name.counts.size >= plan.id.counts.size;
  const told = isNameEnough ? free : interval.columns;
  return {
    id: [...new Set([...(plan ? [plan.id] : []), ...free])],
    name:
      plan && told.every((each) => follows(each, plan.name))
        ? [plan.name]
        : [...new Set([...(plan ? [plan.name] : []), ...told])],
  };
}

/** @param fallback where the file has no plan */
function planField(columns: readonly Column[], fallback: string | number): unknown {
  const [only, ...more] = columns.map(({ name }) => name);
  if (only === undefined) return { value: fallback };
  const empty = Object.assign({}, ...columns.map((each) => ifEmpty(each, fallback).more)) as object;
  return withEmpty(more.length === 0 ? { column: only } : { columns: [only, ...more] }, empty);
}

/** A column alone is written as its name. */
function withEmpty(field: { column?: string; columns?: string[] }, empty: object): unknown {
  const isPlain = field.column !== undefined && Object.keys(empty).length === 0;
  return isPlain ? field.column : { ...field, ...empty };
}

export function intervalFields({ kind, interval, columns, meanings, doubt }: IntervalRole): object {
  const [first, unit] = columns;
  const entries = meanings && [...meanings];
  const empties = columns.map((each) => ifEmpty(each, 'month').doubt);
  const field = (pick: 'unit' | 'count') => {
    const column = kind === 'words' || pick === 'count' ? first : unit;
    if (kind === 'constant' || !column) return { value: interval?.[pick] };
    const { more } = ifEmpty(column, pick === 'unit' ? 'month' : 1);
    if (!entries) return withEmpty({ column: column.name }, more);
    const table = Object.fromEntries(entries.map(([text, each]) => [text, each[pick]]));
    return { column: column.name, table, ...more };
  };
  return {
    intervalUnit: withDoubt(field('unit'), doubt, ...empties),
    intervalCount: field('count'),
  };
}

function lineFields({ plan, price, quantity }: Roles, currency: string): object {
  const { more } = plan ? ifEmpty(plan.id, 1) : { more: {} };
  const product = plan ? withEmpty({ column: plan.id.name }, more) : { value: 1 };
  return {
    productId: product,
    productTitle: plan
      ? withEmpty({ column: plan.name.name }, ifEmpty(plan.name, '').more)
      : { value: '' },
    variantId: product,
    quantity: quantityField(quantity, price),
    currentPrice: priceField(price, currency),
  };
}

/** Texts such as "N/A" in the columns of times and amounts. */
function blanksOf(roles: Roles): unknown {
  const { start, tenure, price, plan } = roles;
  const read = [...usedTimes(roles), tenure, price].flatMap((role) => role?.column ?? []);
  return blanksIn([...read, ...(plan ? [plan.id, plan.name] : [])], start?.column);
}

/** @param start the column whose words are no dates, and stand for no empty value either */
export function blanksIn(columns: readonly Column[], start?: Column): unknown {
  const blanksOfOne = (column: Column) =>
    column === start ? column.blanks.filter((text) => !column.strayWords.has(text)) : column.blanks;
  const texts = [...new Set(columns.flatMap(blanksOfOne))];
  return texts.length === 0
    ? undefined
    : new Commented(texts, ['texts that stand for an empty value']);
}

type Condition = Readonly<Record<string, { is: readonly string[] } | { isNot: readonly string[] }>>;

interface StatusParts {
  /** Which rows are subscriptions, if not all. */
  readonly skipped?: Condition | undefined;
  readonly status: unknown;
  /** Which rows will be charged again. */
  readonly isLive?: Condition;
  readonly events?: readonly object[] | undefined;
}

/** What the mapping says about statuses and when they changed. */
function statusParts({ status, ended, strayEnds }: Roles, now: number): StatusParts {
  if (status) return partsOf(status, ended, strayEnds, now);
  if (ended) return partsOfEnd(ended, now);
  const value = { value: 'active' };
  const doubt =
    'no column says which subscriptions were cancelled, so all are active. If one does: { "column": "NAME", "table": { "TEXT": "cancelled" }, "otherwise": "active" }';
  return { status: withDoubt(value, doubt) };
}

function partsOf(
  role: StatusRole,
  ended: TimeRole | undefined,
  strayEnds: readonly TimeRole[],
  now: number,
): StatusParts {
  const { column, meanings, unknown, blank, isUnsure } = role;
  const texts = [...meanings.keys()];
  const textsOf = (...statuses: readonly (SubscriptionStatus | 'skip')[]) =>
    texts.filter((text) => statuses.includes(meanings.get(text)?.status ?? 'active'));
  const { table, skipped } = statusTable(column, meanings);
  const empty = column.texts.length - column.filled;
  if (empty > 0) {
    const doubt = blank.isUnsure
      ? 'CHECK: rows without a value; what are they?'
      : 'rows without a value';
    for (const text of new Set(['', ...column.blanks])) {
      if (!column.texts.includes(text)) continue;
      if (blank.status === 'skip') skipped.push(text);
      else table[text] = new Commented(blank.status, [], doubt);
    }
  }
  const stray = strayEnds.find((each) => activeWith(each, role, now) > 0);
  const doubts = [
    isUnsure && `"${column.name}" is taken for the status`,
    unknown.length > 0 &&
      `rows with other texts in "${column.name}" (${unknown.length}) are refused until they are given a meaning`,
    stray &&
      `some rows are active although their "${stray.column.name}" is past, so it is not used`,
  ];
  const live = textsOf('active');
  const gone = textsOf('cancelled', 'expired');
  const became = gone.map((text) => [text, meanings.get(text)?.status] as const);
  const [only, another] = new Set(became.map(([, status]) => status));
  const to = another ? { column: column.name, table: Object.fromEntries(became) } : { value: only };
  const event = ended && {
    when: { [column.name]: { is: gone } },
    at: endField(ended, now),
    to,
    until: { value: 'active' },
  };
  return {
    skipped: skipped.length > 0 ? { [column.name]: { isNot: skipped } } : undefined,
    status: withDoubt({ column: column.name, table }, ...doubts),
    ...(live.length > 0 && { isLive: { [column.name]: { is: live } } }),
    events: event && gone.length > 0 ? [event] : undefined,
  };
}

/** Without a status, those are cancelled that have an end. */
function partsOfEnd(ended: TimeRole, now: number): StatusParts {
  const { column, isUnsure, caution } = ended;
  const { name } = column;
  const isAlways = column.filled === column.texts.length;
  const doubt = isAlways
    ? `all rows have "${name}", so all have ended or will end then`
    : `${isUnsure ? `"${name}" is taken for the end: ` : ''}rows with "${name}" are cancelled, all others active`;
  const empty = Object.fromEntries(['', ...column.blanks].map((text) => [text, 'active']));
  const status = { column: name, table: empty, otherwise: 'cancelled' };
  return {
    status:
      isAlways || isUnsure || caution
        ? withDoubt(status, caution ?? doubt)
        : new Commented(status, [doubt]),
    isLive: { [name]: { is: ['', ...column.blanks] } },
    events: [
      {
        at: endField({ ...ended, isUnsure: false, caution: undefined }, now),
        to: { value: 'cancelled' },
        until: { value: 'active' },
      },
    ],
  };
}

/** A date to come is no end yet, in the next file either. */
function endField(ended: TimeRole, now: number): unknown {
  const { column, isUnsure, caution } = ended;
  return timeField(
    ended,
    {},
    isUnsure ? `"${column.name}" is taken for the end` : caution,
    hasFuture(ended, now) && `some "${column.name}" are still to come: active until then`,
  );
}
