import { Snapshot } from '../../ingest/snapshot.ts';
import { deriveId } from '../../ingest/source-ids.ts';
import type { Line } from '../../ingest/lines.ts';
import type { JsonObject } from '../../json.ts';
import { createMakers, mapRows } from '../../mapping/open.ts';
import { jsonValues } from '../../mapping/rows.ts';
import { findShippedMapping } from '../../mapping/shipped.ts';
import { type StreamState, listStreams, upsertStreams } from '../../store/feeds/streams.ts';
import { ensureCustomerKey } from '../../store/records/customer-keys.ts';
import { findMissing } from '../../store/records/export-dates.ts';
import { type Intake, storeLines, totalsOf } from '../intake.ts';
import type { Hint, SyncOptions, SyncReport } from '../platform.ts';
import { checkOutcome, isOlder, refuseForeign, unread } from '../streams.ts';
import type { Catalogue } from './catalogue.ts';
import { Missing, type StripeClient } from './client.ts';
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
export interface Account {
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
  readonly snapshot?: Snapshot;
  /** Of what has just changed: the subscriptions that were read since. Others that they belong to are read again. */
  readonly fresh?: Touched;
}

/** The ids of what events named, with the time of the newest, in seconds, if it is known. */
type Touched = ReadonlyMap<string, number | undefined>;

/** What has a state: a list, or the events. */
type Kept = Pick<Stream, 'types'> & { readonly name: string };

type Batches = AsyncIterable<readonly JsonObject[]> | readonly (readonly JsonObject[])[];

/** One sync, or one change that a webhook told of. */
export class StripeSync {
  readonly #account: Account;
  readonly #intake: Intake;
  readonly #states: Map<string, StreamState>;
  readonly #report = totalsOf();
  readonly #read: Record<string, number> = {};

  private constructor(account: Account, intake: Intake, states: readonly StreamState[]) {
    this.#account = account;
    this.#intake = intake;
    this.#states = new Map(states.map((each) => [each.stream, each]));
  }

  static async open(account: Account, intake: Intake): Promise<StripeSync> {
    return new StripeSync(account, intake, await listStreams(intake.sql, intake.shop.id, platform));
  }

  /** Reads what changed, and the lists that are due. */
  async run({ full, takeOver }: SyncOptions): Promise<SyncReport> {
    if (this.#states.size === 0) {
      if (!takeOver) await refuseForeign(this.#intake, this.#account.account, streams);
      // If this is killed, what is stored by then is no longer foreign.
      for (const each of [...streams, events]) await this.#keep(each, {});
    }
    const { cursor, readAt } = this.#stateOf(events);
    const isAnew = full || cursor === null || this.#isOlder(readAt, maxAgeSeconds);
    await (isAnew ? this.#begin() : this.#readChanges());
    let isWhole = false;
    for (const stream of streams) {
      const { wholeAt, readAt: lastAt } = this.#stateOf(stream);
      if (this.#isOlder(wholeAt, stream.wholeDays * daySeconds)) {
        isWhole = true;
        await this.#readWhole(stream, takeOver);
      } else if (lastAt && this.#isOlder(lastAt, daySeconds)) {
        const gte = secondsOf(lastAt.getTime()) - recentSeconds;
        const rows = await this.#store(stream, this.#list(stream, { created: { gte } }), {});
        await this.#keep(stream, { readAt: this.#now(), rows });
      }
    }
    return { kind: isWhole ? 'whole' : 'changes', read: this.#read, ...this.#report };
  }

  /**
   * Reads one object again, and stores it. Until the first sync has begun, that will.
   * @returns how many records were refused
   */
  async follow({ kind, id, at }: Hint): Promise<number> {
    const touched = new Map([[kind, new Map([[String(id), at]])]]);
    if (this.#stateOf(events).cursor !== null) await this.#follow(touched);
    return this.#report.refused;
  }

  /** Makes all lists due, and notes from when on changes are to be read: from before. */
  async #begin(): Promise<void> {
    let since = secondsOf(this.#now().getTime());
    for await (const { created } of this.#account.client.list('events', { limit: 1 })) {
      since = Number(created);
      break;
    }
    for (const each of streams) await this.#keep(each, { cursor: null, wholeAt: null });
    await this.#keepEvents({ since, seen: [] });
  }

  async #readChanges(): Promise<void> {
    const { since, seen }: EventCursor = JSON.parse(this.#stateOf(events).cursor ?? '{}');
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
    }
    await this.#follow(touched);
    const ids = [...near].filter(([, created]) => created >= newest - overlapSeconds);
    await this.#keepEvents({ since: newest, seen: ids.map(([id]) => id) }, rows);
    this.#count('events', rows);
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
    const ids = [...touched.keys()];
    const { client, seesCustomers } = this.#account;
    const expand = expansionsOf(stream, seesCustomers);
    for (let begin = 0; begin < ids.length; begin += requestsAtOnce) {
      const some = ids.slice(begin, begin + requestsAtOnce);
      const now = secondsOf(this.#now().getTime());
      const find = async (id: string) => {
        const [found, at] = [await client.find(stream.name, id, expand), touched.get(id)];
        // Our clock may be slow, and what is in the future would be refused.
        return found && at !== undefined ? { ...found, event_created: Math.min(at, now) } : found;
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
    const isFirst = this.#stateOf(stream).readAt === null && !takeOver;
    if (stream.parent || isFirst) await this.#readPages(stream);
    else {
      const snapshot = new Snapshot({
        types: ['subscription'],
        allowShrink: takeOver,
        gone: 'cancelled',
      });
      const asOf = this.#now().getTime();
      const rows = await this.#store(stream, this.#list(stream), { asOf, snapshot });
      checkOutcome(snapshot.outcome, platform, this.#intake.shop.id);
      await this.#keep(stream, { rows });
    }
    const readAt = this.#now();
    await this.#keep(stream, { cursor: null, readAt, wholeAt: readAt });
  }

  async #readPages(stream: Stream): Promise<void> {
    const { cursor, rows: before } = this.#stateOf(stream);
    let rows = cursor === null ? 0 : before;
    let asOf = this.#now().getTime();
    const list = this.#list(stream, cursor === null ? {} : { starting_after: cursor });
    try {
      for await (const batch of list) {
        rows += await this.#store(stream, [batch], { asOf });
        await this.#keep(stream, { cursor: String(batch.at(-1)?.['id']), rows });
        if (this.#isOlder(this.#stateOf(events).readAt, changesSeconds)) await this.#readChanges();
        asOf = this.#now().getTime();
      }
    } catch (error) {
      // Where it was interrupted was deleted: the next attempt reads all of it.
      if (error instanceof Missing) await this.#keep(stream, { cursor: null });
      throw error;
    }
  }

  /** @returns how many objects there were */
  async #store(
    stream: Stream,
    batches: Batches,
    { asOf, snapshot, fresh }: StoreOptions,
  ): Promise<number> {
    const { sql, shop, clock } = this.#intake;
    const mapping = await findShippedMapping('stripe-objects');
    if (!mapping) throw new Error('There is no mapping stripe-objects.');
    const customerKey = await ensureCustomerKey(sql, shop.id);
    const isDated = asOf !== undefined && !stream.parent;
    const makers = createMakers(mapping, { shop, customerKey, clock, ...(isDated && { asOf }) });
    const prepare = async (batch: readonly JsonObject[]) => {
      const own = batch.filter((object, index) => {
        const problem = this.#problemOf(object);
        if (problem !== undefined && !stream.parent && !fresh) {
          refused.push(refusedLine(line - batch.length + index + 1, object, problem));
        }
        return problem === undefined;
      });
      return stream.parent
        ? this.#withParents(stream.parent, own, fresh)
        : this.#account.catalogue.complete(own);
    };
    const refused: Line[] = [];
    let line = 0;
    async function* rows() {
      for await (const batch of batches) {
        const before = line;
        line += batch.length;
        yield (await prepare(batch)).map((object, index) => {
          const number = before + index + 1;
          return { line: number, values: jsonValues(object, number) };
        });
      }
    }
    async function* lines() {
      for await (const some of mapRows(rows(), makers, { rows: 0 })) {
        yield [...refused.splice(0), ...some];
      }
      yield refused;
    }
    const source = { name: stream.name, lines: lines() };
    const options = snapshot ? { snapshot } : {};
    const counts = await storeLines(this.#intake, this.#account.account, [source], options);
    const { written, refused: refusedLines, deleted } = totalsOf(counts);
    this.#report.written += written;
    this.#report.refused += refusedLines;
    this.#report.deleted += deleted;
    this.#count(stream.name, line);
    return line;
  }

  /** What is in another currency has no place in the shop's sums. */
  #problemOf({ currency }: JsonObject): string | undefined {
    const own = this.#intake.shop.currency;
    const given = String(currency ?? own).toUpperCase();
    return given === own
      ? undefined
      : `is in ${given}, not in ${own}; a shop of that currency can be connected to the same account`;
  }

  /** Leaves out what belongs to no subscription, to one that never began, or to one that was left out. */
  async #withParents(
    { kind, idOf }: NonNullable<Stream['parent']>,
    batch: readonly JsonObject[],
    fresh: Touched | undefined,
  ): Promise<readonly JsonObject[]> {
    const { sql, shop } = this.#intake;
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
    return owned.filter(({ number }) => !missing.has(number)).map(({ object }) => object);
  }

  #stateOf(stream: Kept): StreamState {
    return this.#states.get(stream.name) ?? unread(this.#account.account, stream);
  }

  async #keep(stream: Kept, change: Partial<StreamState>) {
    const state = { ...this.#stateOf(stream), ...change };
    this.#states.set(stream.name, state);
    await upsertStreams(this.#intake.sql, this.#intake.shop.id, platform, [state]);
  }

  #keepEvents(cursor: EventCursor, rows = 0): Promise<void> {
    return this.#keep(events, { cursor: JSON.stringify(cursor), readAt: this.#now(), rows });
  }

  #count(what: string, count: number): void {
    this.#read[what] = (this.#read[what] ?? 0) + count;
  }

  #now = () => new Date(this.#intake.clock.now());

  #isOlder(at: Date | null, seconds: number): boolean {
    return isOlder(at, seconds, this.#intake.clock.now());
  }
}

/** It is known, so that it does not count as gone. */
const refusedLine = (number: number, { id }: JsonObject, problem: string): Line => ({
  number,
  text: String(id),
  problem,
  countsAs: 'subscription',
  recordId: deriveId('subscription', String(id)),
});

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
