import { deriveId } from '../../ingest/source-ids.ts';
import type { JsonObject } from '../../json.ts';
import { findMissing } from '../../store/records/export-dates.ts';
import { listPaidAhead, listTakenBack } from '../../store/records/refunded.ts';
import { listSourceIds } from '../../store/records/source-ids.ts';
import type { Intake } from '../intake.ts';
import { type Batches, type Making, ListSync } from '../list-sync.ts';
import type { Hint, SyncOptions, SyncReport } from '../platform.ts';
import { type Catalogue, itemsOf } from './catalogue.ts';
import { Missing, type StripeClient } from './client.ts';
import { completedBy, stateIn } from './states.ts';
import {
  type Stream,
  eventTypes,
  events,
  expansionsOf,
  isOfCatalogue,
  readHint,
  streams,
} from './streams.ts';

const platform = 'stripe';
const daySeconds = 86_400;
/** Events become visible in another order than they happened. */
const overlapSeconds = 600;
/** Stripe keeps events for 30 days. */
const maxAgeSeconds = 29 * daySeconds;
/** How often changes are read while a long list is read. */
const changesSeconds = 120;
/** Read again every day, in case an event was missed. */
const recentSeconds = 3 * daySeconds;
/** How many objects are stored before it is noted how far a list was read. */
const batchSize = 500;
const requestsAtOnce = 5;

/** One account, and what its key may do beside what is needed. */
interface Account {
  readonly account: string;
  readonly client: StripeClient;
  readonly catalogue: Catalogue;
  readonly seesCustomers: boolean;
}

/** Of the stream of events: the time of the newest, and the ids of those near it, which are listed again. */
interface EventCursor {
  readonly since: number;
  readonly seen: readonly string[];
}

interface StoreOptions {
  /** When the list was read that these are from. */
  readonly asOf?: number;
  /** Of what has just changed: the subscriptions that were read since. Others that they belong to are read again. */
  readonly fresh?: Touched;
}

/** The ids of what events named, with the time of the newest, in seconds, if it is known. */
type Touched = ReadonlyMap<string, number | undefined>;

/** One sync, or one change that a webhook told of. */
export class StripeSync {
  readonly #account: Account;
  readonly #lists: ListSync;
  /** As what events showed subscriptions, by their ids. */
  readonly #states = new Map<string, JsonObject[]>();
  /** Payments of which something was returned. */
  readonly #refunded: number[] = [];

  private constructor(account: Account, lists: ListSync) {
    this.#account = account;
    this.#lists = lists;
  }

  static async open(account: Account, intake: Intake): Promise<StripeSync> {
    return new StripeSync(account, await ListSync.open(intake, platform, account.account));
  }

  /** Reads what changed, and the lists that are due. */
  async run({ full, takeOver }: SyncOptions): Promise<SyncReport> {
    const lists = this.#lists;
    await lists.begin([...streams, events], takeOver);
    const { cursor, readAt } = lists.stateOf(events);
    const isAnew = full || cursor === null || lists.isOlder(readAt, maxAgeSeconds);
    await (isAnew ? this.#begin() : this.#readChanges());
    let isWhole = false;
    for (const stream of streams) {
      const { wholeAt, readAt: lastAt } = lists.stateOf(stream);
      if (lists.isOlder(wholeAt, stream.wholeDays * daySeconds)) {
        isWhole = true;
        await this.#readWhole(stream, takeOver);
      } else if (lastAt && lists.isOlder(lastAt, daySeconds)) {
        const gte = secondsOf(lastAt.getTime()) - recentSeconds;
        const rows = await this.#store(stream, this.#list(stream, { created: { gte } }), {});
        await lists.keep(stream, { readAt: lists.now(), rows });
      }
    }
    return lists.report(isWhole ? 'whole' : 'changes');
  }

  /**
   * Reads one object again, and stores it. Until the first sync has begun, that will.
   * @returns how many records were refused
   */
  async follow({ kind, id, at }: Hint): Promise<number> {
    const isBegun = this.#lists.stateOf(events).cursor !== null;
    if (isBegun) await this.#follow(new Map([[kind, new Map([[String(id), at]])]]));
    return this.#lists.report('changes').refused;
  }

  /** Makes all lists due, and notes from when on changes are to be read: from before. */
  async #begin(): Promise<void> {
    let since = secondsOf(this.#lists.now().getTime());
    for await (const { created } of this.#account.client.list('events', { limit: 1 })) {
      since = Number(created);
      break;
    }
    for (const each of streams) await this.#lists.keep(each, { cursor: null, wholeAt: null });
    await this.#keepEvents({ since, seen: [] });
  }

  async #readChanges(): Promise<void> {
    const { since, seen }: EventCursor = JSON.parse(this.#lists.stateOf(events).cursor ?? '{}');
    const touched = new Map<string, Map<string, number | undefined>>();
    const near = new Map<string, number>();
    let [newest, rows] = [since, 0];
    const params = { types: eventTypes, created: { gte: since - overlapSeconds } };
    for await (const event of this.#account.client.list('events', params)) {
      const [id, created] = [String(event['id']), Number(event['created'])];
      newest = Math.max(newest, created);
      near.set(id, created);
      if (isOfCatalogue(event) && !seen.includes(id)) this.#account.catalogue.forget();
      const hint = seen.includes(id) ? undefined : readHint(event);
      if (!hint) continue;
      rows += 1;
      const { kind, id: object, at = 0 } = hint;
      const ofKind = touched.getOrInsertComputed(kind, () => new Map());
      ofKind.set(object, Math.max(at, ofKind.get(object) ?? 0) || undefined);
      const state = stateIn(event);
      if (state) this.#states.getOrInsertComputed(object, () => []).push(state);
    }
    await this.#follow(touched);
    const ids = [...near].filter(([, created]) => created >= newest - overlapSeconds);
    await this.#keepEvents({ since: newest, seen: ids.map(([id]) => id) }, rows);
    this.#lists.count('events', rows);
  }

  /** Reads what was touched again, each once. */
  async #follow(touched: ReadonlyMap<string, Touched>): Promise<void> {
    const fresh: Touched = touched.get('subscriptions') ?? new Map();
    for (const stream of streams) {
      const found = touched.get(stream.name);
      if (found) await this.#store(stream, this.#find(stream, found), { fresh });
    }
  }

  /** Subscriptions have no time of their last change: it is that of the event. */
  async *#find(stream: Stream, touched: Touched): AsyncGenerator<readonly JsonObject[]> {
    const { client, catalogue, seesCustomers } = this.#account;
    const expand = expansionsOf(stream, seesCustomers);
    const ids = [...touched.keys()];
    for (let begin = 0; begin < ids.length; begin += requestsAtOnce) {
      const some = ids.slice(begin, begin + requestsAtOnce);
      const now = secondsOf(this.#lists.now().getTime());
      const find = async (id: string) => {
        const [found, at] = [await client.find(stream.name, id, expand), touched.get(id)];
        if (!found || at === undefined) return found;
        const states = (this.#states.get(id) ?? []).map((each) => completedBy(found, each));
        const earlier = await catalogue.complete(states);
        // Our clock may be slow, and what is in the future would be refused.
        return { ...found, event_created: Math.min(at, now), earlier };
      };
      const found = await Promise.all(some.map(find));
      yield found.filter((each) => each !== undefined);
    }
  }

  #list(stream: Stream, params: object = {}): Batches {
    const { client, seesCustomers } = this.#account;
    const expand = expansionsOf(stream, seesCustomers, 'data.');
    return batched(client.list(stream.name, { ...stream.params, expand, ...params }));
  }

  /**
   * Reads a list whole: in one go where what is not in it is gone, otherwise, and the first time, from where it was
   * interrupted.
   */
  async #readWhole(stream: Stream, takeOver: boolean): Promise<void> {
    const isFirst = this.#lists.stateOf(stream).readAt === null && !takeOver;
    if (stream.parent || isFirst) await this.#readPages(stream);
    else await this.#lists.storeWhole(stream, this.#list(stream), this.#making(stream), takeOver);
    const readAt = this.#lists.now();
    await this.#lists.keep(stream, { cursor: null, readAt, wholeAt: readAt });
  }

  async #readPages(stream: Stream): Promise<void> {
    const { cursor, rows: before } = this.#lists.stateOf(stream);
    let rows = cursor === null ? 0 : before;
    let asOf = this.#lists.now().getTime();
    const list = this.#list(stream, cursor === null ? {} : { starting_after: cursor });
    try {
      for await (const batch of list) {
        rows += await this.#store(stream, [batch], { asOf });
        await this.#lists.keep(stream, { cursor: String(batch.at(-1)?.['id']), rows });
        if (this.#lists.isOlder(this.#lists.stateOf(events).readAt, changesSeconds))
          await this.#readChanges();
        asOf = this.#lists.now().getTime();
      }
    } catch (error) {
      // Where it was interrupted was deleted: the next attempt reads all of it.
      if (error instanceof Missing) await this.#lists.keep(stream, { cursor: null });
      throw error;
    }
  }

  /** @returns how many objects there were */
  async #store(stream: Stream, batches: Batches, { asOf, fresh }: StoreOptions): Promise<number> {
    const dated = stream.parent ? {} : { asOf };
    const count = await this.#lists.store(stream, batches, {
      ...this.#making(stream, fresh),
      ...dated,
    });
    await this.#followRefunded();
    return count;
  }

  /** Reads subscriptions again that may not be paid for any more, now that what was returned is stored. */
  async #followRefunded(): Promise<void> {
    const { sql, shop } = this.#lists.intake;
    const payments = this.#refunded.splice(0);
    if (payments.length === 0) return;
    const ids = await listPaidAhead(sql, shop.id, payments, this.#lists.now());
    const known = ids.map((id) => ({ kind: 'subscription' as const, id }));
    const found = await listSourceIds(sql, shop.id, known);
    const undated = new Map(found.map(({ sourceId }) => [sourceId, undefined]));
    if (found.length > 0) await this.#follow(new Map([['subscriptions', undated]]));
  }

  /** A refund that is stored, and that the bank has returned since, gave nothing back. */
  async #withReturned(refunds: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const { sql, shop } = this.#lists.intake;
    const ids = refunds.filter(isReturned).map((each) => numberOf('refund', each));
    const missing = await findMissing(sql, shop.id, 'refund', ids);
    return refunds.map((each) =>
      isReturned(each) && !missing.has(numberOf('refund', each))
        ? { ...each, status: 'succeeded', amount: 0 }
        : each,
    );
  }

  /** Stripe calls an invoice paid also after its refund. What is active entitles in any case. */
  async #withRefunds(subscriptions: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const { sql, shop } = this.#lists.intake;
    const now = secondsOf(this.#lists.now().getTime());
    const periods = subscriptions.flatMap((each) => {
      if (each['status'] === 'active' && !each['pause_collection']) return [];
      const lastOf = (name: string) =>
        Math.max(...itemsOf(each).map((item) => Number(item[name]) || 0));
      if (lastOf('current_period_end') <= now) return [];
      const since = lastOf('current_period_start') * 1000;
      return [{ id: numberOf('subscription', each), since }];
    });
    const takenBack = await listTakenBack(sql, shop.id, periods);
    return subscriptions.map((each) =>
      takenBack.has(numberOf('subscription', each))
        ? { ...each, latest_invoice: { status: 'refunded' } }
        : each,
    );
  }

  #making({ parent }: Stream, fresh?: Touched): Making {
    return {
      mapping: 'stripe-objects',
      currencyOf: ({ currency }) =>
        typeof currency === 'string' ? currency.toUpperCase() : undefined,
      refusedAs: parent || fresh ? undefined : 'subscription',
      prepare: async (objects) =>
        parent
          ? this.#withParents(parent, objects, fresh)
          : this.#account.catalogue.complete(await this.#withRefunds(objects)),
    };
  }

  /** Leaves out what belongs to no subscription, to one that never began, or to one that was left out. */
  async #withParents(
    { kind, idOf }: NonNullable<Stream['parent']>,
    batch: readonly JsonObject[],
    fresh: Touched | undefined,
  ): Promise<readonly JsonObject[]> {
    const { sql, shop } = this.#lists.intake;
    const owned = batch.flatMap((object) => {
      const id = idOf(object);
      return typeof id === 'string' ? [{ object, id, number: deriveId(kind, id) }] : [];
    });
    const numbers = owned.map(({ number }) => number);
    // Until when a subscription is paid for follows from its latest invoice.
    if (fresh && kind === 'subscription') {
      const others = new Set(owned.map(({ id }) => id)).difference(fresh);
      const undated = new Map([...others].map((id) => [id, undefined]));
      if (others.size > 0) await this.#follow(new Map([['subscriptions', undated]]));
    }
    const missing = await findMissing(sql, shop.id, kind, numbers);
    const known = owned.filter(({ number }) => !missing.has(number)).map(({ object }) => object);
    if (kind === 'subscription') return this.#account.catalogue.complete(known);
    this.#refunded.push(...numbers);
    return this.#withReturned(known);
  }

  #keepEvents(cursor: EventCursor, rows = 0): Promise<void> {
    return this.#lists.keep(events, {
      cursor: JSON.stringify(cursor),
      readAt: this.#lists.now(),
      rows,
    });
  }
}

const numberOf = (kind: string, { id }: JsonObject) => deriveId(kind, String(id));

const isReturned = ({ status }: JsonObject) => status === 'failed' || status === 'canceled';

const secondsOf = (milliseconds: number) => Math.floor(milliseconds / 1000);

async function* batched<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
