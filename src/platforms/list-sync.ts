import { Snapshot } from '../ingest/snapshot.ts';
import type { Line } from '../ingest/lines.ts';
import type { JsonObject } from '../json.ts';
import { createMakers, mapRows } from '../mapping/open.ts';
import { jsonValues } from '../mapping/rows.ts';
import { findShippedMapping } from '../mapping/shipped.ts';
import type { RecordType } from '../records/records.ts';
import { type StreamState, listStreams, upsertStreams } from '../store/feeds/streams.ts';
import { ensureCustomerKey } from '../store/records/customer-keys.ts';
import { type Intake, storeLines, totalsOf } from './intake.ts';
import type {
  ConnectedShop,
  Connection,
  Credentials,
  Hint,
  SyncOptions,
  SyncReport,
} from './platform.ts';
import { checkOutcome, isOlder, refuseForeign, stateOf } from './streams.ts';

/** A list of an account, or that of its changes. */
interface List {
  readonly name: string;
  readonly types: readonly RecordType[];
}

/** How the objects of a list become records. */
export interface Making {
  /** The name of a shipped one. */
  readonly mapping: string;
  /** In capitals; undefined for an object that has none. */
  currencyOf(object: JsonObject): string | undefined;
  /** What an object in another currency counts as, which is refused by name; otherwise it is left out. */
  readonly refusedAs?: RecordType | undefined;
  /** Adds what the objects lack, or leaves out some. */
  prepare(objects: readonly JsonObject[]): Promise<readonly JsonObject[]>;
  /** When the list was read that these are from. */
  readonly asOf?: number | undefined;
  readonly snapshot?: Snapshot;
}

type Batch = readonly JsonObject[];
export type Batches = AsyncIterable<Batch> | Iterable<Batch>;

/** One sync with an account whose records are made from lists of objects: what is stored, and how far it has come. */
export class ListSync {
  readonly intake: Intake;
  readonly #platform: string;
  readonly #account: string;
  readonly #states: Map<string, StreamState>;
  readonly #report = totalsOf();
  readonly #read: Record<string, number> = {};

  private constructor(intake: Intake, platform: string, account: string, known: StreamState[]) {
    this.intake = intake;
    this.#platform = platform;
    this.#account = account;
    this.#states = new Map(known.map((each) => [each.stream, each]));
  }

  static async open(intake: Intake, platform: string, account: string): Promise<ListSync> {
    const known = await listStreams(intake.sql, intake.shop.id, platform);
    return new ListSync(intake, platform, account, [...known]);
  }

  /** To be called before anything is stored. */
  async begin(lists: readonly List[], takeOver: boolean): Promise<void> {
    if (this.#states.size > 0) return;
    if (!takeOver) await refuseForeign(this.intake, this.#account, lists);
    // If this is killed, what is stored by then is no longer foreign.
    for (const each of lists) await this.keep(each, {});
  }

  stateOf(list: List): StreamState {
    return stateOf(this.intake, this.#account, list, this.#states.get(list.name));
  }

  async keep(list: List, change: Partial<StreamState>): Promise<void> {
    const state = { ...this.stateOf(list), ...change };
    this.#states.set(list.name, state);
    await upsertStreams(this.intake.sql, this.intake.shop.id, this.#platform, [state]);
  }

  /** Stores a list that has all subscriptions: one that is not in it has ended. */
  async storeWhole(list: List, batches: Batches, making: Making, allowShrink: boolean) {
    const snapshot = new Snapshot({ types: ['subscription'], allowShrink, gone: 'cancelled' });
    const asOf = this.now().getTime();
    const rows = await this.store(list, batches, { ...making, asOf, snapshot });
    checkOutcome(snapshot.outcome, this.#platform, this.intake.shop.id);
    await this.keep(list, { rows });
  }

  /** @returns how many objects there were */
  async store(list: List, batches: Batches, making: Making): Promise<number> {
    const { currencyOf, refusedAs, prepare, asOf, snapshot } = making;
    const { sql, shop, clock } = this.intake;
    const mapping = await findShippedMapping(making.mapping);
    if (!mapping) throw new Error(`There is no mapping ${making.mapping}.`);
    const customerKey = await ensureCustomerKey(sql, shop.id);
    const makers = createMakers(mapping, { shop, customerKey, clock, asOf });
    const maker = makers.find(({ type }) => type === refusedAs);
    const refused: Line[] = [];
    // What is in another currency has no place in the shop's sums.
    const isOwn = (object: JsonObject, number: number): boolean => {
      const currency = currencyOf(object) ?? shop.currency;
      if (currency === shop.currency) return true;
      if (!maker) return false;
      const problem = `is in ${currency}, not in ${shop.currency}; a shop of that currency can be connected to the same account`;
      const text = String(object['id']);
      // Its id is known, so that it does not count as gone.
      const recordId = maker.idOf(jsonValues(object));
      refused.push({ number, text, problem, countsAs: maker.type, recordId });
      return false;
    };
    let line = 0;
    async function* rows() {
      for await (const batch of batches) {
        const before = line + 1;
        line += batch.length;
        const own = batch.filter((object, index) => isOwn(object, before + index));
        yield (await prepare(own)).map((object, index) => ({
          line: before + index,
          values: jsonValues(object, before + index),
        }));
      }
    }
    async function* lines() {
      for await (const some of mapRows(rows(), makers, { rows: 0 })) {
        yield [...refused.splice(0), ...some];
      }
      yield refused;
    }
    const source = { name: list.name, lines: lines() };
    const options = snapshot ? { snapshot } : {};
    const counts = await storeLines(this.intake, this.#account, [source], options);
    const { written, refused: refusedLines, deleted } = totalsOf(counts);
    this.#report.written += written;
    this.#report.refused += refusedLines;
    this.#report.deleted += deleted;
    this.count(list.name, line);
    return line;
  }

  count(what: string, count: number): void {
    this.#read[what] = (this.#read[what] ?? 0) + count;
  }

  report(kind: SyncReport['kind']): SyncReport {
    return { kind, read: this.#read, ...this.#report };
  }

  now(): Date {
    return new Date(this.intake.clock.now());
  }

  isOlder(at: Date | null, seconds: number): boolean {
    return isOlder(at, seconds, this.intake.clock.now());
  }
}

interface Started {
  run(options: SyncOptions): Promise<SyncReport>;
  follow?(hint: Hint): Promise<number>;
}

/** Credentials stay as they are for as long as a connection is used, so that the account is opened once. */
export function connectLists<Opened extends { readonly client: { requests(): number } }>(
  { account, credentials }: ConnectedShop,
  open: (credentials: Credentials) => Opened,
  start: (opened: Opened, intake: Intake) => Promise<Started>,
): Connection {
  let opened: Opened | undefined;
  const begin = async (intake: Intake) =>
    start((opened ??= open(await credentials.read())), intake);
  return {
    account,
    usage: () => ({ requests: opened?.client.requests() ?? 0 }),
    sync: async (intake, options) => (await begin(intake)).run(options),
    follow: async (intake, hint) => (await (await begin(intake)).follow?.(hint)) ?? 0,
  };
}
