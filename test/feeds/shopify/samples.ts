import assert from 'node:assert/strict';
import { createReadStream, readFileSync } from 'node:fs';
import path from 'node:path';
import { FixedClock } from '../../../src/clock.ts';
import { readBulkResults } from '../../../src/platforms/shopify/bulk/records.ts';
import { type LineSource, importRecords } from '../../../src/ingest/import.ts';
import { type Line, readLines } from '../../../src/ingest/lines.ts';
import { recordSchema, parseRecord } from '../../../src/records/records.ts';
import type { Store } from '../../../src/store/open.ts';
import { type TestShop, now, silentLog } from '../../support/world.ts';

const folder = path.join(import.meta.dirname, 'samples');

export const samplePath = (name: string) => path.join(folder, name);
/** The lines of a sample: a result from Shopify for the queries in docs/shopify.md. */
export const sample = (name: string): string[] =>
  readFileSync(samplePath(name), 'utf8').trimEnd().split('\n');

export const flat = 'subscription_contracts.bulk.flat.jsonl';
export const grouped = 'subscription_contracts.bulk.grouped.jsonl';
export const plans = 'selling_plan_groups.bulk.jsonl';

/** A file with this name and these lines. */
export function file(name: string, lines: readonly (object | string)[]): LineSource {
  const text = lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  async function* bytes() {
    yield Buffer.from(text.join('\n'));
  }
  return { name, lines: readLines(bytes()) };
}

export function sampleFile(name: string): LineSource {
  return { name, lines: readLines(createReadStream(samplePath(name))) };
}

/** The samples as the queries of the present version return them, with orders. */
export function ordersFile(): LineSource {
  const name = 'subscription_contracts.bulk.jsonl';
  const stream = createReadStream(path.join(import.meta.dirname, 'orders', name));
  return { name, lines: readLines(stream) };
}

/** A clock for which nothing lies in the future. */
const endOfTime = new FixedClock(Date.UTC(9999, 11, 31));

/** Asserts that records which a feed hands over unchecked are what the check of their text would make of them. */
export async function* whileChecking(
  lines: AsyncIterable<Line[]>,
  { minorDigits }: { readonly minorDigits: number },
): AsyncGenerator<Line[]> {
  const schema = recordSchema(minorDigits, endOfTime, true);
  for await (const some of lines) {
    for (const { record, text } of some) {
      if (!record) continue;
      const checked = parseRecord(schema, JSON.parse(text));
      // As text, because the order of fields decides the digest.
      assert.equal(JSON.stringify(checked), JSON.stringify({ record }));
    }
    yield some;
  }
}

export interface Imported {
  readonly counts: Awaited<ReturnType<typeof importRecords>>;
  /** As the command prints them. */
  readonly refused: readonly string[];
  /** What is saved of the refused lines. */
  readonly kept: readonly string[];
}

/** Imports files of bulk results in one run, as the command does. */
export async function importShopify(
  store: Store,
  shop: TestShop,
  files: readonly LineSource[],
  bytesInMemory?: number,
): Promise<Imported> {
  const refused: string[] = [];
  const kept: string[] = [];
  const options = { ...(bytesInMemory && { bytesInMemory }) };
  const lines = whileChecking(readBulkResults(files, shop, options), shop);
  const counts = await importRecords([{ name: 'shopify', lines }], {
    sql: store.write,
    shop,
    feed: 'shopify-file',
    clock: new FixedClock(now),
    log: silentLog,
    isFromFeed: true,
    refuse(source, line, reason) {
      refused.push(`${source}:${line.number}: ${reason}`);
      kept.push(line.text);
    },
  });
  return { counts, refused, kept };
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    let bits = state;
    bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
    return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** Fails if a run refused anything. */
export function assertTaken({ refused }: Imported): void {
  assert.deepEqual(refused, []);
}
