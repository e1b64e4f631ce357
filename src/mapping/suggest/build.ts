import { Commented, withDoubt } from './document.ts';
import {
  createdAtField,
  idField,
  ifEmpty,
  priceField,
  quantityField,
  timeField,
} from './fields.ts';
import type { IntervalRole } from './plan-roles.ts';
import type { Roles } from './roles.ts';
import { statusParts } from './status-part.ts';
import type { Input } from './head.ts';

interface BuildContext {
  /** The date of the export, in epoch milliseconds. */
  readonly now: number;
  /** The shop's. */
  readonly currency: string;
}

/** A mapping with comments, for a file whose columns stand for this. */
export function buildMapping(input: Input, roles: Roles, { now, currency }: BuildContext): unknown {
  const { when, status, isLive, events } = statusParts(roles, now);
  return {
    about: 'Suggested by "retention mapping suggest".',
    input: inputOf(input),
    formats: { ids: 'text', timeZone: 'UTC', blank: blanksOf(roles) },
    records: [
      {
        type: 'plan',
        when,
        fields: {
          id: planId(roles),
          name: planName(roles),
          planType: { value: 'subscription' },
          ...intervalFields(roles.interval),
        },
      },
      {
        type: 'subscription',
        when: when && withDoubt(when, 'rows with these values are skipped'),
        currency: roles.currency?.name,
        fields: {
          id: idField(roles.ids.subscription, 'subscriptions'),
          customerId: idField(roles.ids.customer, 'customers'),
          planId: planId(roles),
          status,
          createdAt: createdAtField(roles, now),
          updatedAt: roles.updated && timeField(roles.updated),
          nextBillingDate: roles.next && timeField(roles.next, { when: isLive }),
          paidThroughAt: roles.paidThrough && timeField(roles.paidThrough),
        },
        lines: { fields: lineFields(roles, currency) },
        statusEvents: events,
      },
    ],
  };
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

/** One plan for each combination, since a plan has one interval. */
function planColumns(of: 'id' | 'name', { plan, interval }: Roles): string[] {
  const names = [...(plan ? [plan[of].name] : []), ...intervalColumns(interval)];
  return [...new Set(names)];
}

function intervalColumns(interval: IntervalRole): string[] {
  switch (interval.kind) {
    case 'constant':
      return [];
    case 'words':
      return [interval.column.name];
    case 'counted':
      return [
        interval.count.name,
        ...(typeof interval.unit === 'string' ? [] : [interval.unit.name]),
      ];
  }
}

function planId(roles: Roles): unknown {
  const [only, ...more] = planColumns('id', roles);
  if (only === undefined) return { value: 1 };
  const { more: empty } = roles.plan ? ifEmpty(roles.plan.id, 1) : { more: {} };
  return withEmpty(more.length === 0 ? { column: only } : { columns: [only, ...more] }, empty);
}

function planName(roles: Roles): unknown {
  const [only, ...more] = planColumns('name', roles);
  if (only === undefined) return { value: 'Subscription' };
  const { more: empty } = roles.plan ? ifEmpty(roles.plan.name, 'Subscription') : { more: {} };
  return withEmpty(more.length === 0 ? { column: only } : { columns: [only, ...more] }, empty);
}

/** A column alone is written as its name. */
function withEmpty(field: { column?: string; columns?: string[] }, empty: object): unknown {
  const isPlain = field.column !== undefined && Object.keys(empty).length === 0;
  return isPlain ? field.column : { ...field, ...empty };
}

function intervalFields(role: IntervalRole): object {
  switch (role.kind) {
    case 'constant': {
      const { unit, count } = role.interval;
      const field = { value: unit };
      return { intervalUnit: withDoubt(field, role.doubt), intervalCount: { value: count } };
    }
    case 'words': {
      const { column, meanings } = role;
      const field = (pick: 'unit' | 'count') =>
        meanings
          ? {
              column: column.name,
              table: Object.fromEntries([...meanings].map(([text, each]) => [text, each[pick]])),
            }
          : column.name;
      return {
        intervalUnit: withDoubt(field('unit'), role.doubt),
        intervalCount: field('count'),
      };
    }
    case 'counted': {
      const unit = typeof role.unit === 'string' ? { value: role.unit } : role.unit.name;
      return { intervalUnit: withDoubt(unit, role.doubt), intervalCount: role.count.name };
    }
  }
}

function lineFields({ plan, price, quantity }: Roles, currency: string): object {
  const { more } = plan ? ifEmpty(plan.id, 1) : { more: {} };
  const product = plan ? withEmpty({ column: plan.id.name }, more) : { value: 1 };
  return {
    productId: product,
    productTitle: plan ? plan.name.name : { value: '' },
    variantId: product,
    quantity: quantityField(quantity, price),
    currentPrice: priceField(price, currency),
  };
}

/** Texts such as "N/A" in the columns of times and amounts. */
function blanksOf({
  start,
  ended,
  next,
  paidThrough,
  updated,
  tenure,
  price,
  plan,
}: Roles): unknown {
  const columns = [start, ended, next, paidThrough, updated, tenure, price].flatMap((role) =>
    role ? [role.column] : [],
  );
  const all = [...columns, ...(plan ? [plan.id, plan.name] : [])];
  const texts = [...new Set(all.flatMap(({ blanks }) => blanks))];
  return texts.length === 0
    ? undefined
    : new Commented(texts, ['texts that stand for an empty value']);
}
