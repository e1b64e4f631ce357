import { Snapshot } from '../../ingest/snapshot.ts';
import type { JsonObject } from '../../json.ts';
import { createMakers, mapRows } from '../../mapping/open.ts';
import { type Row, jsonValues } from '../../mapping/rows.ts';
import { findShippedMapping } from '../../mapping/shipped.ts';
import { type StreamState, listStreams, upsertStreams } from '../../store/feeds/streams.ts';
import { ensureCustomerKey } from '../../store/records/customer-keys.ts';
import { findMissing } from '../../store/records/export-dates.ts';
import { deriveId } from '../../ingest/source-ids.ts';
import { type Intake, countRefused, countWritten, storeLines } from '../intake.ts';
import type { SyncOptions, SyncReport } from '../platform.ts';
import { checkOutcome, isOlder, refuseForeign, unread } from '../streams.ts';
import { Catalogue } from './catalogue.ts';
import { Missing, type StripeClient } from './client.ts';
import {
  type Stream,
  currencyOf,
  daySeconds,
  eventTypes,
  expansionsOf,
  readHint,
  streams,
} from './streams.ts';

const platform = 'stripe';
/** Events become visible in another order than they happened. */
const overlapSeconds = 600;
/** Stripe keeps events for 30 days. */
const maxAgeSeconds = 29 * daySeconds;
/** What happens meanwhile is read this often while a long list is read. */
const changesSeconds = 120;
/** Once a day, the newest of a list are read again, in case an event was missed. */
const recentSeconds = 3 * daySeconds;
/** How many objects are stored before it is noted how far the list has been read. */
const batchSize = 500;
const requestsAtOnce = 5;
const maxNamed = 100;

/** One account, with the optional permissions of its key. */
export interface Account {
  readonly account: string;
  readonly client: StripeClient;
  readonly may: readonly string[];
}

/** The stream of events, which make no records themselves. */
const events = { name: 'events', types: [] };
/** Its cursor: the time of the newest event, and the ids of those near it, which are listed again. */
interface EventCursor {
  readonly since: number;
  readonly seen: readonly string[];
}

/** Ids by the stream of what they are of. */
type Touched = Map<string, Set<string>>;

/** One sync, or one change that a webhook told of. */
export class StripeSync {
  readonly #account: Account;
  readonly #intake: Intake;
  readonly #states: Map<string, StreamState>;
  readonly #report = { written: 0, refused: 0, deleted: 0 };
  readonly #read: Record<string, number> = {};
  readonly #catalogue: Catalogue;
  #others = 0;

  private constructor(account: Account, intake: Intake, states: readonly StreamState[]) {
    this.#account = account;
    this.#catalogue = new Catalogue(account.client, { readsLists: false });
    this.#intake = intake;
    this.#states = new Map(states.map((each) => [each.stream, each]));
  }

  static async open(account: Account, intake: Intake): Promise<StripeSync> {
    const states = await listStreams(intake.sql, intake.shop.id, platform);
    return new StripeSync(account, intake, states);
  }

  /** Reads what changed, and what is due to be read whole. */
  async run({ full, takeOver }: SyncOptions): Promise<SyncReport> {
    const { account } = this.#account;
    if (this.#states.size === 0) {
      if (!takeOver) await refuseForeign(this.#intake, account, streams);
      // If this is killed, what is stored by then is no longer foreign.
      for (const each of [...streams, events]) await this.#keep(unread(account, each));
    }
    const { cursor, readAt } = this.#stateOf(events.name);
    if (full || cursor === null || this.#isOlder(readAt, maxAgeSeconds)) await this.#begin();
    else await this.#readChanges();
    let isWhole = false;
    for (const stream of streams) {
      const { wholeAt, readAt: lastAt } = this.#stateOf(stream.name);
      if (this.#isOlder(wholeAt, stream.wholeSeconds)) {
        isWhole = true;
        await this.#readWhole(stream, takeOver);
      } else if (this.#isOlder(lastAt, daySeconds)) await this.#readRecent(stream, lastAt);
    }
    return { kind: isWhole ? 'whole' : 'changes', read: this.#read, ...this.#report };
  }

  /**
   * Reads one object again, and stores it.
   * @returns how many records were refused
   */
  async follow(kind: string, id: string): Promise<number> {
    // Before that, the first sync will read it anyway.
    if (this.#states.get(events.name)?.cursor) await this.#follow(new Map([[kind, new Set([id])]]));
    return this.#report.refused;
  }

  /** Makes everything due, and notes from where on its changes are read: from before it. */
  async #begin(): Promise<void> {
    let since = Math.floor(this.#now() / 1000);
    for await (const { created } of this.#account.client.list('events', { limit: 1 })) {
      since = Number(created);
      break;
    }
    for (const { name } of streams)
      await this.#keep({ ...this.#stateOf(name), cursor: null, wholeAt: null });
    await this.#keepEvents({ since, seen: [] }, 0);
  }

  async #readChanges(): Promise<void> {
    const { cursor } = this.#stateOf(events.name);
    const { since, seen } = JSON.parse(cursor ?? '{}') as EventCursor;
    const known = new Set(seen);
    const touched: Touched = new Map();
    const listed: { readonly id: string; readonly created: number }[] = [];
    let count = 0;
    const created = { gte: since - overlapSeconds };
    const { client } = this.#account;
    for await (const event of client.list('events', { types: eventTypes, created })) {
      listed.push({ id: String(event['id']), created: Number(event['created']) });
      const hint = known.has(String(event['id'])) ? undefined : readHint(event);
      if (!hint) continue;
      count += 1;
      touched.set(hint.kind, (touched.get(hint.kind) ?? new Set()).add(String(hint.id)));
    }
    await this.#follow(touched);
    const newest = listed.reduce((max, each) => Math.max(max, each.created), since);
    const near = listed.filter((each) => each.created >= newest - overlapSeconds);
    await this.#keepEvents({ since: newest, seen: near.map(({ id }) => id) }, count);
    this.#count(events.name, count);
  }

  /** Reads what was touched again, each once. */
  async #follow(touched: Touched): Promise<void> {
    for (const stream of streams) {
      const ids = touched.get(stream.name);
      if (ids) await this.#store(stream, this.#find(stream, [...ids]), { findsParents: true });
    }
  }

  async *#find(stream: Stream, ids: readonly string[]): AsyncGenerator<readonly JsonObject[]> {
    const { client, may } = this.#account;
    const expand = expansionsOf(stream, may);
    for (let begin = 0; begin < ids.length; begin += requestsAtOnce) {
      const some = ids.slice(begin, begin + requestsAtOnce);
      const found = await Promise.all(some.map((id) => client.find(stream.name, id, expand)));
      yield found.filter((each) => each !== undefined);
    }
  }

  #list(stream: Stream, params: object = {}): AsyncIterable<readonly JsonObject[]> {
    const { client, may } = this.#account;
    const expand = expansionsOf(stream, may, 'data.');
    return batched(client.list(stream.name, { ...stream.params, expand, ...params }));
  }

  async #readRecent(stream: Stream, readAt: Date | null): Promise<void> {
    const now = this.#now();
    const gte = Math.floor((readAt?.getTime() ?? 0) / 1000) - recentSeconds;
    await this.#store(stream, this.#list(stream, { created: { gte } }));
    await this.#keep({ ...this.#stateOf(stream.name), readAt: new Date(now) });
  }

  async #readWhole(stream: Stream, takeOver: boolean): Promise<void> {
    const isRead = this.#stateOf(stream.name).readAt !== null;
    const catalogue = new Catalogue(this.#account.client, { readsLists: true });
    if (!stream.parent && (isRead || takeOver))
      await this.#readSnapshot(stream, catalogue, takeOver);
    else await this.#readPages(stream, catalogue);
    const readAt = new Date(this.#now());
    const state = this.#stateOf(stream.name);
    await this.#keep({ ...state, cursor: null, readAt, wholeAt: readAt });
    this.#count(stream.name, state.rows);
  }

  /** Reads subscriptions in one go: what is not in the list is gone. */
  async #readSnapshot(stream: Stream, catalogue: Catalogue, allowShrink: boolean): Promise<void> {
    const snapshot = new Snapshot({ types: ['subscription'], allowShrink, gone: 'cancelled' });
    let rows = 0;
    const list = this.#list(stream);
    async function* counted() {
      for await (const batch of list) {
        rows += batch.length;
        yield batch;
      }
    }
    await this.#store(stream, counted(), { catalogue, asOf: this.#now(), snapshot });
    checkOutcome(snapshot.outcome, platform, this.#intake.shop.id);
    await this.#keep({ ...this.#stateOf(stream.name), rows });
  }

  /** Reads a list for the first time, or one that nothing leaves, from where it was interrupted. */
  async #readPages(stream: Stream, catalogue: Catalogue): Promise<void> {
    const { cursor, rows: before } = this.#stateOf(stream.name);
    let rows = cursor === null ? 0 : before;
    let asOf = this.#now();
    try {
      for await (const batch of this.#list(
        stream,
        cursor === null ? {} : { starting_after: cursor },
      )) {
        await this.#store(stream, once(batch), { catalogue, asOf });
        rows += batch.length;
        await this.#keep({
          ...this.#stateOf(stream.name),
          cursor: String(batch.at(-1)?.['id']),
          rows,
        });
        const { readAt } = this.#stateOf(events.name);
        if (this.#isOlder(readAt, changesSeconds)) await this.#readChanges();
        asOf = this.#now();
      }
    } catch (error) {
      // The next attempt begins anew: what the last one ended with has been deleted.
      if (error instanceof Missing)
        await this.#keep({ ...this.#stateOf(stream.name), cursor: null });
      throw error;
    }
  }

  async #store(
    stream: Stream,
    batches: AsyncIterable<readonly JsonObject[]>,
    { catalogue = this.#catalogue, findsParents = false, asOf, snapshot }: StoreOptions = {},
  ): Promise<void> {
    const { sql, shop, clock } = this.#intake;
    const mapping = await findShippedMapping('stripe-objects');
    if (!mapping) throw new Error('The mapping stripe-objects is missing.');
    const customerKey = await ensureCustomerKey(sql, shop.id);
    const isDated = !stream.parent;
    const makers = createMakers(mapping, { shop, customerKey, clock, ...(isDated && { asOf }) });
    const prepare = async (batch: readonly JsonObject[]) => {
      const own = await this.#withParents(stream, this.#inCurrency(stream, batch), findsParents);
      return this.#completed(stream, own, catalogue);
    };
    let line = 0;
    async function* rows() {
      for await (const batch of batches) {
        yield (await prepare(batch)).map((object): Row => {
          line += 1;
          return { line, values: jsonValues(object, line) };
        });
      }
    }
    const lines = mapRows(rows(), makers, { rows: 0 });
    const source = { name: stream.name, lines };
    const options = snapshot ? { snapshot } : {};
    const counts = await storeLines(this.#intake, this.#account.account, [source], options);
    this.#report.written += countWritten(counts);
    this.#report.refused += countRefused(counts);
    for (const { deleted } of Object.values(counts)) this.#report.deleted += deleted;
    if (!snapshot && asOf === undefined) this.#count(stream.name, line);
  }

  /** Leaves out what is in another currency: it has no place in the shop's sums. */
  #inCurrency(stream: Stream, batch: readonly JsonObject[]): readonly JsonObject[] {
    const { shop, log } = this.#intake;
    return batch.filter((object) => {
      const currency = currencyOf(object);
      if (currency === undefined || currency === shop.currency) return true;
      this.#others += 1;
      if (stream.parent || this.#others > maxNamed) return false;
      const reason = `is in ${currency}, not in ${shop.currency}; a shop in ${currency} may be connected to the same account`;
      log.warn(
        { shop: shop.id, account: this.#account.account, what: object['id'], reason },
        'left out',
      );
      return false;
    });
  }

  /**
   * Leaves out what belongs to nothing that is stored: to no subscription, to one that never began, or in another
   * currency.
   * @param isFresh whether that may be too new to be stored yet
   */
  async #withParents(
    { parent }: Stream,
    batch: readonly JsonObject[],
    isFresh: boolean,
  ): Promise<readonly JsonObject[]> {
    if (!parent) return batch;
    const { sql, shop } = this.#intake;
    const owned = batch.flatMap((object) => {
      const id = parent.idOf(object);
      return typeof id === 'string' ? [{ object, id, number: deriveId(parent.kind, id) }] : [];
    });
    const find = () =>
      findMissing(
        sql,
        shop.id,
        parent.kind,
        owned.map(({ number }) => number),
      );
    let missing = await find();
    if (isFresh && parent.kind === 'subscription' && missing.size > 0) {
      const ids = owned.filter(({ number }) => missing.has(number)).map(({ id }) => id);
      await this.#follow(new Map([['subscriptions', new Set(ids)]]));
      missing = await find();
    }
    return owned.filter(({ number }) => !missing.has(number)).map(({ object }) => object);
  }

  /** With what lists lack: what subscriptions refer to, and why invoices were not paid. */
  async #completed(
    stream: Stream,
    batch: readonly JsonObject[],
    catalogue: Catalogue,
  ): Promise<readonly JsonObject[]> {
    if (stream.name === 'subscriptions') {
      const completed: JsonObject[] = [];
      for (const object of batch) completed.push(await catalogue.complete(object));
      return completed;
    }
    return batch;
  }

  #stateOf(name: string): StreamState {
    const { account } = this.#account;
    const stream = streams.find((each) => each.name === name) ?? events;
    return this.#states.get(name) ?? unread(account, stream);
  }

  async #keep(state: StreamState): Promise<void> {
    this.#states.set(state.stream, state);
    await upsertStreams(this.#intake.sql, this.#intake.shop.id, platform, [state]);
  }

  #keepEvents(cursor: EventCursor, rows: number): Promise<void> {
    const readAt = new Date(this.#now());
    return this.#keep({
      ...this.#stateOf(events.name),
      cursor: JSON.stringify(cursor),
      readAt,
      rows,
    });
  }

  #count(what: string, count: number): void {
    this.#read[what] = (this.#read[what] ?? 0) + count;
  }

  #now = () => this.#intake.clock.now();

  #isOlder(at: Date | null, seconds: number): boolean {
    return isOlder(at, seconds, this.#now());
  }
}

interface StoreOptions {
  /** By default, what is unknown is asked for one by one. */
  readonly catalogue?: Catalogue;
  /** Whether what the objects belong to may not be stored yet. */
  readonly findsParents?: boolean;
  /** When the list was read, of which these are a part. */
  readonly asOf?: number;
  readonly snapshot?: Snapshot;
}

async function* once<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

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
