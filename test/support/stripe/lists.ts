import type { Parameters } from './parameters.ts';
import { StripeRefusal, missing } from './refusals.ts';
import { type StripeObject, isObject } from './schema.ts';

type Filter = (object: StripeObject, wanted: never) => boolean;

interface Range {
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
}

const isIn = (time: unknown, range: Range | number) => {
  const { gt, gte, lt, lte } =
    typeof range === 'number'
      ? { gte: range, lte: range }
      : (range as Range & { gt?: number; lt?: number });
  const at = Number(time);
  return (
    (gt === undefined || at > gt) &&
    (gte === undefined || at >= gte) &&
    (lt === undefined || at < lt) &&
    (lte === undefined || at <= lte)
  );
};

const same =
  (name: string): Filter =>
  (object, wanted: unknown) =>
    object[name] === wanted;

const itemsOf = ({ items }: StripeObject) =>
  (items as { readonly data: readonly StripeObject[] }).data;

const subscriptionOf = ({ parent }: StripeObject) =>
  isObject(parent) && isObject(parent['subscription_details'])
    ? parent['subscription_details']['subscription']
    : null;

const ended = new Set<unknown>(['canceled', 'incomplete_expired']);

const matchesType = (type: unknown, wanted: string) =>
  wanted.endsWith('.*') ? String(type).startsWith(wanted.slice(0, -1)) : type === wanted;

const everywhere: Readonly<Record<string, Filter>> = {
  created: ({ created }, range: Range | number) => isIn(created, range),
  customer: same('customer'),
};

const byId: Readonly<Record<string, Filter>> = {
  charge: same('charge'),
  payment_intent: same('payment_intent'),
};

/** What each parameter of a list keeps. */
const filters: Readonly<Record<string, Readonly<Record<string, Filter>>>> = {
  charge: { payment_intent: same('payment_intent') },
  credit_note: { invoice: same('invoice') },
  dispute: byId,
  event: {
    type: ({ type }, wanted: string) => matchesType(type, wanted),
    types: ({ type }, wanted: readonly string[]) => wanted.some((each) => matchesType(type, each)),
  },
  invoice: {
    collection_method: same('collection_method'),
    status: same('status'),
    subscription: (object, wanted: string) => subscriptionOf(object) === wanted,
  },
  invoice_payment: {
    invoice: same('invoice'),
    status: same('status'),
    payment: ({ payment }, wanted: Readonly<Record<string, string>>) =>
      Object.entries(wanted).every(([name, each]) => (payment as StripeObject)[name] === each),
  },
  price: {
    active: same('active'),
    currency: same('currency'),
    product: same('product'),
    type: same('type'),
  },
  product: {
    active: same('active'),
    ids: ({ id }, wanted: readonly string[]) => wanted.includes(String(id)),
  },
  refund: byId,
  subscription: {
    collection_method: same('collection_method'),
    price: (object, wanted: string) => itemsOf(object).some(({ price }) => price === wanted),
    status: ({ status }, wanted: string) => {
      if (wanted === 'all') return true;
      return wanted === 'ended' ? ended.has(status) : status === wanted;
    },
    current_period_end: (object, range: Range | number) =>
      isIn(Math.min(...itemsOf(object).map((item) => Number(item['current_period_end']))), range),
    current_period_start: (object, range: Range | number) =>
      isIn(Math.max(...itemsOf(object).map((item) => Number(item['current_period_start']))), range),
  },
  subscription_item: { subscription: same('subscription') },
};

const paging = new Set(['limit', 'starting_after', 'ending_before', 'expand']);

/** A page of the objects of a kind, which come newest first. */
export function listPage(
  kind: string,
  objects: readonly StripeObject[],
  parameters: Parameters,
): { readonly data: readonly StripeObject[]; readonly hasMore: boolean } {
  const wanted = Object.entries(parameters).filter(([name]) => !paging.has(name));
  const kept = objects.filter(
    (object) =>
      wanted.every(([name, value]) => {
        const filter = filters[kind]?.[name] ?? everywhere[name];
        if (!filter) throw new Error(`The stand-in does not filter ${kind}s by ${name}.`);
        return filter(object, value as never);
      }) &&
      // Without a status, those that have been canceled are left out.
      (kind !== 'subscription' ||
        parameters['status'] !== undefined ||
        object['status'] !== 'canceled'),
  );
  const {
    limit = 10,
    starting_after: after,
    ending_before: before,
  } = parameters as {
    readonly limit?: number;
    readonly starting_after?: string;
    readonly ending_before?: string;
  };
  if (limit < 1 || limit > 100) {
    throw new StripeRefusal(400, 'Limit must be between 1 and 100.', {
      code: 'parameter_invalid_integer',
      param: 'limit',
    });
  }
  if (after !== undefined && before !== undefined) {
    throw new StripeRefusal(
      400,
      'You may only specify one of these parameters: ending_before, starting_after.',
    );
  }
  const positions = new Map(objects.map((object, index) => [object['id'], index]));
  const positionOf = (id: string, param: string) => {
    const position = positions.get(id);
    if (position === undefined) throw missing(kind, id, param);
    return position;
  };
  const at = (object: StripeObject) => positions.get(object['id']) as number;
  if (before !== undefined) {
    const end = positionOf(before, 'ending_before');
    const newer = kept.filter((object) => at(object) < end);
    return { data: newer.slice(-limit), hasMore: newer.length > limit };
  }
  const start = after === undefined ? -1 : positionOf(after, 'starting_after');
  const older = kept.filter((object) => at(object) > start);
  return { data: older.slice(0, limit), hasMore: older.length > limit };
}
