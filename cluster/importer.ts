import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/clock.ts';
import { generateShop } from '../src/demo/generate.ts';
import type { DemoRecord } from '../src/demo/records.ts';
import { importShopOf } from '../src/ingest/apply.ts';
import { type ImportCounts, importRecords } from '../src/ingest/import.ts';
import { type Sql, connect } from '../src/store/database.ts';
import type { Instance } from '../faults/instance.ts';
import { silentLog } from '../test/support/world.ts';

interface ImportedShop {
  readonly id: number;
  readonly key: string;
}

const currency = 'USD';
const recordsPerImport = 50;
const pauseMilliseconds = 200;
const retryMilliseconds = 100;
const maxShownErrors = 20;
const refusal = '{"success":false,"message":"Internal server error."}';
/** The table of each type of record. */
const tables = {
  plan: 'plans',
  subscription: 'subscriptions',
  payment: 'payments',
  refund: 'refunds',
  cancellation: 'cancellation_sessions',
} as const;

/** Constantly imports new records into a shop, and checks that what was acknowledged is served. */
export class Importer {
  readonly shopId: number;
  readonly wrong: string[] = [];
  /** When the last acknowledged import began. */
  lastBegin = 0;
  imported = 0;
  failed = 0;
  /** The errors of failed imports, and how often each occurred. */
  readonly errors = new Map<string, number>();
  readonly #sql: Sql;
  readonly #shop: ImportedShop;
  readonly #targets: readonly Instance[];
  readonly #source = generateShop({
    subscriptions: 20_000,
    seed: 2,
    // Old enough that no window of the figures moves during the drill.
    endAt: Date.parse('2025-01-01T00:00:00Z'),
    currency,
    minorDigits: 2,
  });
  readonly #sent: DemoRecord[] = [];
  readonly #over = new AbortController();
  #isPaused = false;
  #current: Promise<void> = Promise.resolve();
  readonly #running: Promise<void>;

  constructor(databaseUrl: string, shop: ImportedShop, targets: readonly Instance[]) {
    this.#sql = connect(databaseUrl, {
      name: 'write',
      connections: 1,
      statementTimeoutMilliseconds: 0,
    });
    this.shopId = shop.id;
    this.#shop = shop;
    this.#targets = targets;
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#sql.end(0);
    await this.#running;
  }

  /** Runs work while nothing is imported. */
  async whilePaused<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isPaused = true;
    try {
      await this.#current;
      return await work();
    } finally {
      this.#isPaused = false;
    }
  }

  /** Whether all records are stored exactly once; only while paused. */
  async findLost(): Promise<string[]> {
    const lost: string[] = [];
    const counts = await this.#import(this.#sent);
    for (const [type, table] of Object.entries(tables)) {
      const expected = this.#sent.filter((record) => record.type === type).length;
      const unchanged = counts[type]?.unchanged ?? 0;
      if (unchanged !== expected) {
        lost.push(`of ${expected} imported ${type} records, ${unchanged} are stored unchanged`);
      }
      const [row] = await this.#sql<{ count: number }[]>`
        select count(*)::int as count from ${this.#sql.unsafe(table)} where shop_id = ${this.shopId}`;
      if (row?.count !== expected) {
        lost.push(`${table} has ${row?.count} rows of ${expected} imported records`);
      }
    }
    return lost;
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      if (!this.#isPaused) {
        this.#current = this.#importNext();
        await this.#current;
      }
      await sleep(pauseMilliseconds);
    }
  }

  async #importNext(): Promise<void> {
    const records: DemoRecord[] = [];
    while (records.length < recordsPerImport) {
      const { value, done } = this.#source.next();
      if (done) break;
      records.push(value);
    }
    while (!this.#over.signal.aborted) {
      const begin = performance.now();
      try {
        await this.#import(records);
        this.lastBegin = begin;
        break;
      } catch (error) {
        if (this.#over.signal.aborted) return;
        this.#note(error as Error);
        await sleep(retryMilliseconds);
      }
    }
    this.#sent.push(...records);
    this.imported += records.length;
    await this.#checkServed();
  }

  #note({ message }: Error): void {
    this.failed += 1;
    if (this.errors.size < maxShownErrors || this.errors.has(message)) {
      this.errors.set(message, (this.errors.get(message) ?? 0) + 1);
    }
  }

  async #import(records: readonly DemoRecord[]): Promise<ImportCounts> {
    async function* lines() {
      yield records.map((record, index) => ({ number: index + 1, text: JSON.stringify(record) }));
    }
    return importRecords([{ name: 'drill', lines: lines() }], {
      sql: this.#sql,
      shop: importShopOf({ id: this.shopId, currency }),
      feed: 'records',
      clock: systemClock,
      log: silentLog,
      refuse: (_source, line, reason) => void this.wrong.push(`${line.text} refused: ${reason}`),
    });
  }

  /** The newest subscription and any older one. */
  async #checkServed(): Promise<void> {
    const stored = this.#sent.filter((record) => record.type === 'subscription');
    const any = stored[Math.floor(Math.random() * stored.length)];
    for (const record of [stored.at(-1), any]) {
      if (record) for (const target of this.#targets) await this.#expect(target, record);
    }
  }

  async #expect(target: Instance, record: DemoRecord & { type: 'subscription' }): Promise<void> {
    if (target.state !== 'up') return;
    const { starts } = target;
    const complain = (what: string) =>
      this.wrong.push(`${target.name}: subscription ${record.id} was imported, then: ${what}`);
    try {
      const url = `${target.baseUrl}/api/external/v1/subscriptions/${record.id}`;
      const headers = { authorization: `Bearer ${this.#shop.key}`, connection: 'close' };
      const response = await fetch(url, { headers });
      const text = await response.text();
      if (response.status === 500 && text === refusal) return;
      if (response.status !== 200) return void complain(`${response.status} ${text}`);
      const found = JSON.parse(text);
      const { customerId, planId, status, lineItems } = found.subscription;
      const isSame =
        customerId === record.customerId &&
        planId === record.planId &&
        status === record.status &&
        lineItems.length === record.lines.length;
      if (!isSame) complain(text);
    } catch (error) {
      if (target.state === 'up' && target.starts === starts) complain(String(error));
    }
  }
}
