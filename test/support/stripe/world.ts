import type { Clock } from '../../../src/clock.ts';
import type { Schema } from './document.ts';
import { show } from './expansion.ts';
import { inVersion } from './versions.ts';
import {
  type StripeObject,
  document,
  fillIn,
  findFaults,
  isObject,
  readPublished,
  resolve,
  resourceOf,
  schemaOf,
} from './schema.ts';

export interface StripeEvent {
  readonly id: string;
  readonly object: 'event';
  readonly api_version: string;
  readonly created: number;
  readonly data: {
    readonly object: StripeObject;
    readonly previous_attributes?: StripeObject;
  };
  readonly livemode: boolean;
  readonly pending_webhooks: number;
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null };
  readonly type: string;
}

export interface WorldOptions {
  readonly clock: Clock;
  readonly livemode?: boolean;
  /** The id of the account. */
  readonly account?: string;
  /** The version of the API in which the account records its events, and answers callers that name none. */
  readonly apiVersion?: string;
}

/** Resources that are kept within another, not beside it. */
const owned: ReadonlySet<string> = new Set([
  'balance_transaction',
  'credit_note_line_item',
  'invoice_payment',
  'line_item',
  'subscription_item',
]);

const prefixes: Readonly<Record<string, string>> = {
  charge: 'ch',
  coupon: 'coupon',
  credit_note: 'cn',
  customer: 'cus',
  discount: 'di',
  dispute: 'du',
  event: 'evt',
  invoice: 'in',
  invoice_payment: 'inpay',
  line_item: 'il',
  payment_intent: 'pi',
  price: 'price',
  product: 'prod',
  refund: 're',
  subscription: 'sub',
  subscription_item: 'si',
};

const coupon = ['applies_to', 'currency_options'].map((name) => `discounts.source.coupon.${name}`);
const exported = {
  dispute: [],
  invoice: ['payments.data.payment.payment_intent'],
  refund: [],
  subscription: [
    'customer.discount.source.coupon',
    'latest_invoice',
    ...coupon,
    ...coupon.map((each) => `items.data.${each}`),
    ...['currency_options.*.tiers', 'product', 'tiers'].map((each) => `items.data.price.${each}`),
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

let accounts = 0;

/**
 * What one account of Stripe has, live or for tests: objects by their ids, which name others by their
 * ids too, and the events of their changes.
 */
export class StripeWorld {
  readonly account: string;
  readonly livemode: boolean;
  readonly clock: Clock;
  apiVersion: string;
  readonly #objects = new Map<string, Map<string, StripeObject>>();
  /** What is no longer listed, and events that are not yet. */
  readonly #gone = new Set<string>();
  readonly #held = new Set<string>();
  #isHeld = false;
  #made = 0;
  #past: number | undefined;

  constructor({ clock, livemode = false, account, apiVersion }: WorldOptions) {
    accounts += 1;
    this.clock = clock;
    this.livemode = livemode;
    this.account = account ?? `acct_${accounts}StandIn`;
    this.apiVersion = apiVersion ?? document.info.version;
    const { account: published } = readPublished('fixtures') as Record<string, StripeObject>;
    this.add('account', { ...published, id: this.account });
  }

  /** Seconds since 1970. */
  get now(): number {
    return this.#past ?? Math.floor(this.clock.now() / 1000);
  }

  /** Runs at an earlier time, in seconds since 1970, without events. */
  inThePast(at: number, run: () => void): void {
    this.#past = at;
    try {
      run();
    } finally {
      this.#past = undefined;
    }
  }

  /** An id that no other object of the world has. */
  makeId(kind: string): string {
    this.#made += 1;
    return `${prefixes[kind] ?? kind}_${this.account.slice('acct_'.length)}${String(this.#made).padStart(6, '0')}`;
  }

  /** Adds an object, with what the document requires filled in, and without an event. */
  add(kind: string, partial: StripeObject): StripeObject {
    const { properties = {} } = resolve(schemaOf(kind));
    const object = fillIn(
      {
        id: this.makeId(kind),
        ...('created' in properties && { created: this.now }),
        ...partial,
        object: kind,
        ...('livemode' in properties && { livemode: this.livemode }),
      },
      schemaOf(kind),
    );
    return this.#put(this.#absorb(object, schemaOf(kind), true) as StripeObject);
  }

  /** Adds an object, and records its event. */
  create(kind: string, partial: StripeObject, ...types: readonly string[]): StripeObject {
    const object = this.add(kind, partial);
    for (const type of types) this.record(type, object);
    return object;
  }

  #put(object: StripeObject): StripeObject {
    const kind = String(object['object']);
    const kept = this.#objects.get(kind) ?? new Map<string, StripeObject>();
    this.#objects.set(kind, kept);
    kept.set(String(object['id']), object);
    return object;
  }

  /** A value with its objects put beside it, and named by their ids. */
  #absorb(value: unknown, reference: Schema, isRoot: boolean): unknown {
    const schema = resolve(reference);
    const { items } = schema;
    if (items && Array.isArray(value)) return value.map((each) => this.#absorb(each, items, false));
    if (!isObject(value) || schema['x-leftOut'] !== undefined) return value;
    if (schema['x-expansionResources']) {
      return this.add(String(value['object']), value)['id'];
    }
    const resource = resourceOf(reference);
    if (!isRoot && resource !== undefined && !owned.has(resource)) {
      return this.add(resource, value)['id'];
    }
    const kept: StripeObject = {};
    for (const [name, each] of Object.entries(value)) {
      const known = schema.properties?.[name] ?? schema.additionalProperties ?? {};
      kept[name] = this.#absorb(each, known, false);
    }
    // Prices are shown as plans too.
    if (resource === 'subscription_item') kept['plan'] = kept['price'];
    return kept;
  }

  get(kind: string, id: string): StripeObject {
    return this.find([kind], id);
  }

  /** An object of one of some kinds. */
  find(kinds: readonly string[], id: string): StripeObject {
    for (const kind of kinds) {
      const found = kind === 'plan' ? this.#planOf(id) : this.peek(kind, id);
      if (found) return found;
    }
    throw new Error(`The world has no ${kinds.join(' or ')} ${id}.`);
  }

  peek(kind: string, id: string): StripeObject | undefined {
    if (owned.has(kind)) return this.list(kind).find((each) => each['id'] === id);
    return this.#objects.get(kind)?.get(id);
  }

  /** The objects of a kind, newest first; of one time, the one that was added last. */
  list(kind: string): readonly StripeObject[] {
    const all = owned.has(kind)
      ? this.#listOwned(kind)
      : [...(this.#objects.get(kind)?.values() ?? [])];
    return all
      .filter((each) => each['deleted'] !== true && !this.#isHidden(String(each['id'])))
      .toReversed()
      .toSorted((one, other) => Number(other['created']) - Number(one['created']));
  }

  #isHidden(id: string): boolean {
    return this.#gone.has(id) || this.#held.has(id);
  }

  #listOwned(kind: string): StripeObject[] {
    const owners = {
      subscription_item: ['subscription', 'items'],
      invoice_payment: ['invoice', 'payments'],
    };
    const [owner, name] = owners[kind as keyof typeof owners] ?? [];
    if (!owner || !name) return [];
    return this.list(owner).flatMap(
      (each) => (each[name] as { readonly data: StripeObject[] } | undefined)?.data ?? [],
    );
  }

  /** A price as the plan that it once was. */
  #planOf(id: string): StripeObject {
    const price = this.get('price', id);
    const recurring = (price['recurring'] ?? {}) as StripeObject;
    const transform = price['transform_quantity'];
    return fillIn(
      {
        ...Object.fromEntries(
          ['id', 'active', 'billing_scheme', 'created', 'currency', 'livemode', 'metadata'].map(
            (name) => [name, price[name]],
          ),
        ),
        ...Object.fromEntries(
          ['nickname', 'product', 'tiers_mode'].map((name) => [name, price[name]]),
        ),
        ...(price['tiers'] !== undefined && { tiers: price['tiers'] }),
        object: 'plan',
        amount: price['unit_amount'],
        amount_decimal: price['unit_amount_decimal'],
        interval: recurring['interval'] ?? 'month',
        interval_count: recurring['interval_count'] ?? 1,
        usage_type: recurring['usage_type'] ?? 'licensed',
        meter: recurring['meter'] ?? null,
        trial_period_days: recurring['trial_period_days'] ?? null,
        transform_usage: transform,
      },
      schemaOf('plan'),
    ) as StripeObject;
  }

  /**
   * Changes an object, and records an event for each type. `change` gets a copy, which it may alter;
   * lists within are the world's form, ids instead of objects.
   */
  change(
    kind: string,
    id: string,
    change: (object: StripeObject) => void,
    ...types: readonly string[]
  ): readonly StripeEvent[] {
    const before = this.get(kind, id);
    const after = structuredClone(before);
    change(after);
    const whole = fillIn(after, schemaOf(kind));
    const kept = this.#put(this.#absorb(whole, schemaOf(kind), true) as StripeObject);
    return types.map((type) => this.record(type, kept, before));
  }

  /** Removes an object; products, prices and customers are still named, as deleted ones. */
  delete(kind: string, id: string, ...types: readonly string[]): readonly StripeEvent[] {
    const before = this.get(kind, id);
    const events = types.map((type) => this.record(type, before));
    const { properties } = document.components.schemas[`deleted_${kind}`] ?? {};
    if (properties) {
      const left = Object.entries(before).filter(([name]) => name in properties);
      this.#put({ ...Object.fromEntries(left), deleted: true });
    } else this.#gone.add(id);
    return events;
  }

  /** Records an event about an object as it is now, in the account's version of the API. */
  record(type: string, object: StripeObject, before?: StripeObject): StripeEvent {
    const kind = String(object['object']);
    const shown = this.#showFor(kind, object);
    const previous = before && type.endsWith('.updated') && this.#showFor(kind, before);
    const event = {
      id: this.makeId('event'),
      object: 'event' as const,
      api_version: this.apiVersion,
      created: this.now,
      data: {
        object: shown,
        ...(previous && {
          previous_attributes: Object.fromEntries(
            Object.entries(previous).filter(
              ([name, each]) => JSON.stringify(each) !== JSON.stringify(shown[name]),
            ),
          ),
        }),
      },
      livemode: this.livemode,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    };
    const faults = findFaults(event, schemaOf('event'), 'event');
    if (faults.length > 0) throw new Error(`No event of Stripe's: ${faults.join('; ')}`);
    if (this.#past === undefined) this.#put(event);
    if (this.#isHeld) this.#held.add(event.id);
    return structuredClone(event);
  }

  #showFor(kind: string, object: StripeObject): StripeObject {
    const find = (kinds: readonly string[], id: string) => this.find(kinds, id);
    const shown = show(object, schemaOf(kind), [], find) as StripeObject;
    const faults = findFaults(shown, schemaOf(kind), kind);
    if (faults.length > 0) throw new Error(`No ${kind} of Stripe's: ${faults.join('; ')}`);
    return structuredClone(inVersion(shown, this.apiVersion, this)) as StripeObject;
  }

  /** The events, oldest first, lost and held ones too. */
  get events(): readonly StripeEvent[] {
    return [...(this.#objects.get('event')?.values() ?? [])] as unknown as StripeEvent[];
  }

  /** From now on events are recorded but not listed, until they are released: they arrive late. */
  holdEvents(): void {
    this.#isHeld = true;
  }

  releaseEvents(): void {
    this.#isHeld = false;
    this.#held.clear();
  }

  /** Takes an event out of the list: it never arrives. */
  loseEvent({ id }: StripeEvent): void {
    this.#gone.add(id);
  }

  /** Records the same change as another event, as Stripe sometimes does. */
  repeatEvent(event: StripeEvent): StripeEvent {
    const again = { ...structuredClone(event), id: this.makeId('event') };
    this.#put(again as unknown as StripeObject);
    return again;
  }

  /** All objects of a kind with everything expanded that a mapping reads, oldest first: rows of a file. */
  exportRows(kind: keyof typeof exported): readonly StripeObject[] {
    const find = (kinds: readonly string[], id: string) => this.find(kinds, id);
    return this.list(kind)
      .map((each) => show(each, schemaOf(kind), exported[kind], find) as StripeObject)
      .toReversed();
  }
}

/** Stripe's published samples, one of each kind, as first data. */
export function addFixtures(world: StripeWorld): void {
  const published = readPublished('fixtures') as Readonly<Record<string, StripeObject>>;
  for (const kind of ['customer', 'product', 'price', 'coupon', 'payment_intent', 'charge']) {
    world.add(kind, published[kind] ?? {});
  }
  for (const kind of ['subscription', 'invoice', 'refund', 'dispute', 'credit_note']) {
    // The sample of an invoice has one name more than the version in use.
    const { subscription: _former, ...sample } = published[kind] ?? {};
    world.add(kind, sample);
  }
}
