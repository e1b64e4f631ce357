import { systemClock } from '../../src/clock.ts';
import { type ShopOptions, generateShop } from '../../src/demo/generate.ts';
import { importShopOf } from '../../src/ingest/apply.ts';
import { importRecords, linesPerServerTransaction } from '../../src/ingest/import.ts';
import type { Line } from '../../src/ingest/lines.ts';
import { createLog } from '../../src/log/log.ts';
import type { Store } from '../../src/store/open.ts';
import { insertShop } from '../../src/store/shops.ts';
import { createTestKey } from '../../test/support/world.ts';
import { cpuMicroseconds } from '../cpu.ts';
import { print } from '../report.ts';
import type { Portion } from './state.ts';

/** Each is stored before the next one, so that what is lost by stopping is small. */
const maxPortions = 100;
/** Shops that are imported at the same time, on two cores. */
const importsAtOnce = 2;
const linesPerChunk = 500;
const paymentsPerSubscription = 2;
const currency = 'USD';
const log = createLog('error');

interface Filling {
  readonly store: Store;
  readonly databasePid: number;
  readonly shops: number;
  /** Of each shop. */
  readonly subscriptions: number;
  readonly endAt: number;
  readonly signal: AbortSignal;
  /** What is done by now. */
  readonly portions: readonly Portion[];
  readonly keys: readonly string[];
  done(portion: Portion, keys: readonly string[]): void;
}

/** Imports shops as the command does, several side by side; one large shop in portions, which are runs of their own. */
export async function fill(filling: Filling): Promise<void> {
  const { shops, subscriptions, portions } = filling;
  const count = Math.min(maxPortions, shops === 1 ? subscriptions : shops);
  let large: ShopRecords | undefined;
  for (let portion = portions.length; portion < count; portion += 1) {
    const from = Math.floor((shops * portion) / count);
    const to = Math.floor((shops * (portion + 1)) / count);
    const begin = performance.now();
    const cpu = process.cpuUsage();
    const databaseCpu = cpuMicroseconds(filling.databasePid);
    const keys: string[] = [];
    let records = 0;
    if (shops === 1) {
      const start = Math.floor((subscriptions * portion) / count);
      if (!large) (large = recordsOf(filling, 1)).skip(start);
      const end = Math.floor((subscriptions * (portion + 1)) / count);
      records = await importInto(filling, 1, large.take(end - start));
      if (portion === 0) keys.push(await createKey(filling, 1));
    } else {
      let shopId = from;
      const importSome = async () => {
        while (shopId < to) {
          const id = (shopId += 1);
          records += await importInto(filling, id, recordsOf(filling, id).take(subscriptions));
          keys.push(await createKey(filling, id));
        }
      };
      await Promise.all(Array.from({ length: importsAtOnce }, importSome));
    }
    const seconds = (performance.now() - begin) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const database = cpuMicroseconds(filling.databasePid) - databaseCpu;
    filling.done({ records, seconds, cpu: user + system, databaseCpu: database }, keys);
    const rate = Math.round(records / seconds);
    print(`${new Date().toISOString()} portion ${portion + 1} of ${count}: ${rate} records/s`);
  }
}

async function createKey({ store }: Filling, shopId: number): Promise<string> {
  return (await createTestKey(store, shopId)).key;
}

function recordsOf({ subscriptions, endAt }: Filling, seed: number): ShopRecords {
  return new ShopRecords({ subscriptions, seed, endAt, currency, minorDigits: 2 });
}

/** The records of a generated shop, of which each subscription has its first payments only. */
class ShopRecords {
  readonly #records: ReturnType<typeof generateShop>;
  #next: ReturnType<ReturnType<typeof generateShop>['next']>;

  constructor(options: ShopOptions) {
    this.#records = generateShop(options);
    this.#next = this.#records.next();
  }

  /** The next subscriptions, with all that belongs to them. */
  *take(subscriptions: number): Generator<object> {
    let taken = 0;
    let payments: number[] = [];
    for (; this.#next.done !== true; this.#next = this.#records.next()) {
      const record = this.#next.value;
      if (record.type === 'subscription') {
        if (taken === subscriptions) return;
        taken += 1;
        payments = [];
      }
      if (record.type === 'payment') {
        if (payments.length === paymentsPerSubscription) continue;
        payments.push(record.id);
      }
      if (record.type === 'refund' && !payments.includes(record.paymentId)) continue;
      yield record;
    }
  }

  skip(subscriptions: number): void {
    if (subscriptions > 0) for (const _ of this.take(subscriptions));
  }
}

/** @returns how many records were stored */
async function importInto(
  { store, endAt, signal }: Filling,
  id: number,
  records: Iterable<object>,
): Promise<number> {
  const createdAt = new Date(endAt);
  await insertShop(store.write, {
    id,
    name: `Shop ${id}`,
    tier: 'enterprise_plus',
    currency,
    createdAt,
  });
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
  return Object.values(counts).reduce((sum, each) => sum + each.stored + each.unchanged, 0);
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
