import { systemClock } from '../../src/clock.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { importShopOf } from '../../src/ingest/apply.ts';
import { importRecords, linesPerServerTransaction } from '../../src/ingest/import.ts';
import type { Line } from '../../src/ingest/lines.ts';
import type { Store } from '../../src/store/open.ts';
import { insertShop } from '../../src/store/shops.ts';
import { createTestKey, silentLog as log } from '../../test/support/world.ts';
import { cpuMicroseconds } from '../cpu.ts';
import { print } from '../report.ts';

/** How far a database is filled, and what each portion took; processor time in microseconds. */
export interface Filled {
  readonly shops: number;
  readonly subscriptions: number;
  readonly portions: {
    readonly records: number;
    readonly seconds: number;
    readonly cpu: number;
    readonly databaseCpu: number;
  }[];
  readonly keys: string[];
  isFull: boolean;
}

interface Filling {
  readonly store: Store;
  readonly databasePid: number;
  /** The end of the shops' history, in epoch milliseconds. */
  readonly endAt: number;
  readonly signal: AbortSignal;
  /** Called after each portion: what is lost by stopping is small. */
  save(): void;
}

const maxPortions = 100;
/** Of a large shop. */
const recordsPerPortion = 300_000;
/** Shops that are imported side by side, on two cores. */
const importsAtOnce = 2;
const linesPerChunk = 500;
const currency = 'USD';

/** Imports what is missing, as the command does. */
export async function fill(filled: Filled, filling: Filling): Promise<void> {
  const { shops, portions: done, keys } = filled;
  const large = shops === 1 ? recordsOf(1, filled, filling) : undefined;
  const sum = done.reduce((total, { records }) => total + records, 0);
  if (large) for (const _ of take(large, filled.isFull ? 0 : sum));
  while (!filled.isFull) {
    const began = { at: performance.now(), cpu: process.cpuUsage() };
    const database = cpuMicroseconds(filling.databasePid);
    let records = 0;
    const after = (count: number) => Math.floor((shops * count) / Math.min(shops, maxPortions));
    let shopId = large ? 0 : after(done.length);
    const end = large ? 1 : after(done.length + 1);
    const created: string[] = [];
    const importSome = async () => {
      while (shopId < end) {
        const id = (shopId += 1);
        const source = large ? take(large, recordsPerPortion) : recordsOf(id, filled, filling);
        const imported = await importInto(id, source, filling);
        records += imported;
        created.push((await createTestKey(filling.store, id)).key);
      }
    };
    await Promise.all(Array.from({ length: importsAtOnce }, importSome));
    const { user, system } = process.cpuUsage(began.cpu);
    const seconds = (performance.now() - began.at) / 1000;
    const databaseCpu = cpuMicroseconds(filling.databasePid) - database;
    done.push({ records, seconds, cpu: user + system, databaseCpu });
    keys.push(...(large ? created.slice(keys.length) : created));
    filled.isFull = large ? records < recordsPerPortion : end === shops;
    filling.save();
    print(
      `${new Date().toISOString()} portion ${done.length}: ${(records / seconds).toFixed(0)} records/s`,
    );
  }
}

/** The records of a generated shop, of which each subscription has its first two payments only. */
function* recordsOf(
  seed: number,
  { subscriptions }: Filled,
  { endAt }: Filling,
): Generator<object> {
  let payments: number[] = [];
  for (const record of generateShop({ subscriptions, seed, endAt, currency, minorDigits: 2 })) {
    if (record.type === 'subscription') payments = [];
    if (record.type === 'payment' && payments.push(record.id) > 2) continue;
    if (record.type === 'refund' && !payments.slice(0, 2).includes(record.paymentId)) continue;
    yield record;
  }
}

/** The next ones, without ending their generator. */
function* take(records: Iterator<object>, count: number): Generator<object> {
  for (let taken = 0; taken < count; taken += 1) {
    const next = records.next();
    if (next.done === true) return;
    yield next.value;
  }
}

/** @returns how many records there were: some may have been stored before this portion was stopped */
async function importInto(
  id: number,
  records: Iterable<object>,
  { store, endAt, signal }: Filling,
): Promise<number> {
  const created = { tier: 'enterprise_plus', createdAt: new Date(endAt) } as const;
  await insertShop(store.write, { id, name: `Shop ${id}`, currency, ...created });
  const counts = await importRecords([{ name: 'generated', lines: chunksOf(records) }], {
    sql: store.write,
    shop: importShopOf({ id, currency }),
    feed: 'records',
    clock: systemClock,
    log,
    linesPerTransaction: linesPerServerTransaction,
    signal,
    refuse(_source, { text }, reason) {
      throw new Error(`${reason}: ${text}`);
    },
  });
  return Object.values(counts)
    .flatMap((each) => Object.values(each))
    .reduce((sum, each) => sum + each, 0);
}

async function* chunksOf(records: Iterable<object>): AsyncGenerator<readonly Line[]> {
  let lines: Line[] = [];
  for (const record of records) {
    lines.push({ number: lines.length + 1, text: JSON.stringify(record) });
    if (lines.length < linesPerChunk) continue;
    yield lines;
    lines = [];
  }
  yield lines;
}
