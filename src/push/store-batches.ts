import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type ImportShop, importShopOf } from '../ingest/apply.ts';
import { keyOf } from '../ingest/batch.ts';
import { type ImportCounts, importRecords } from '../ingest/import.ts';
import type { Line } from '../ingest/lines.ts';
import type { Log } from '../log/log.ts';
import { listKeepers, whyNotTaken } from '../platforms/keeper.ts';
import type { Job, JobQueue } from '../platforms/webhooks/queue.ts';
import type { Sql, Transaction } from '../store/database.ts';
import {
  type BatchKey,
  type OpenBatch,
  deleteOldBatches,
  keptMilliseconds,
  listNextBatches,
  listWaitingKeys,
  lockOpenBatch,
  updateBatch,
  updateBatchAttempts,
  updateRetries,
} from '../store/push/batches.ts';
import { deleteJobsOfShop } from '../store/feeds/jobs.ts';
import { findShop } from '../store/shops.ts';
import { type RefusedRecord, addOutcomes, refusedRecord } from './outcomes.ts';
import { timelessSchemes } from './signature.ts';
import { SourceTurns } from './source-turns.ts';
import { fromStored, toStored } from '../records/columns.ts';

export const pushQueue = 'push-shops';

/** How long a record waits for one that it refers to, and the pauses between attempts meanwhile. */
const waitMilliseconds = 10 * 60_000;
const retrySeconds = 10;
const maxPauseMilliseconds = 60_000;
/** Further attempts would fail like these; until then, the source's later batches wait. */
const maxAttempts = 8;
/** Before the second attempt; twice as long before each further one. */
const failurePauseMilliseconds = 5_000;
/** Then other shops get their turn. */
const batchesPerTurn = 50;
const bytesPerTurn = 256 * 1024;

interface WorkParts {
  /** Connections reserved for jobs. */
  readonly sql: Sql;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts records that are refused for good. */
  countRefused(records: number): void;
}

/** Has a shop's batches stored, soon, by some instance. */
export async function sendPushJob(
  { queue, clock }: Pick<WorkParts, 'queue' | 'clock'>,
  shopId: number,
  afterSeconds = 0,
): Promise<void> {
  const receivedAt = new Date(clock.now()).toISOString();
  const job = { shopId, event: randomUUID(), topic: 'push', receivedAt, kind: 'batches' };
  // A job for later must not count as the one that a new batch needs now.
  await queue.send(
    pushQueue,
    job,
    afterSeconds > 0 ? `${shopId} later` : String(shopId),
    afterSeconds,
  );
}

/**
 * Stores batches of a shop, each in one transaction with its outcomes, those of a source in the order in which they
 * arrived. Those with records that refer to unknown ones are tried again from time to time, for some minutes.
 */
export function createPushWorker(parts: WorkParts) {
  const { sql, clock, log } = parts;
  /** Of shops with batches that are left. */
  const turnsOf = new Map<
    number,
    { readonly queued: SourceTurns; readonly waiting: SourceTurns }
  >();
  return async ({ shopId }: Pick<Job, 'shopId'>, signal: AbortSignal): Promise<void> => {
    const shop = await findShop(sql, shopId);
    if (!shop) return deleteJobsOfShop(sql, shopId);
    const importShop = importShopOf(shop);
    const turns = turnsOf.get(shopId) ?? { queued: new SourceTurns(), waiting: new SourceTurns() };
    const served = new Set<string>();
    // Listed again after each batch, so that what arrives meanwhile waits for no more than that.
    const findNext = async (kind: keyof typeof turns) => {
      const heads = await listNextBatches(sql, shopId, kind === 'waiting');
      return { next: turns[kind].choose(heads, clock.now()), isAnyLeft: heads.length > 0 };
    };
    // Some of both, so that neither holds up the other; those that wait may need what is queued.
    for (const kind of ['queued', 'waiting'] as const) {
      for (let batches = 0, bytes = 0; batches < batchesPerTurn && bytes < bytesPerTurn;) {
        const { next } = await findNext(kind);
        if (!next) break;
        signal.throwIfAborted();
        turns[kind].charge(next);
        served.add(next.sourceId);
        batches += 1;
        bytes += next.bytes;
        try {
          await storeBatch(next, importShop, parts);
        } catch (err) {
          const { sourceId, batchId, attempts } = next;
          log.error({ shopId, sourceId, batchId, attempts, err }, 'pushed batch not stored');
          turns[kind].pause(next, clock.now() + failurePauseMilliseconds * 2 ** attempts);
          // The next one might fail like it: then the turn is over.
          bytes = bytesPerTurn;
        }
      }
    }
    const left = [await findNext('queued'), await findNext('waiting')];
    if (left.some(({ isAnyLeft }) => isAnyLeft)) {
      turnsOf.set(shopId, turns);
      await sendPushJob(parts, shopId, left.some(({ next }) => next) ? 0 : retrySeconds);
    } else turnsOf.delete(shopId);
    const before = new Date(clock.now() - keptMilliseconds);
    for (const sourceId of served) {
      await deleteOldBatches(sql, { shopId, sourceId }, before, timelessSchemes);
    }
  };
}

/** When a batch that waits is tried again: soon at first, then once a minute, and at the end. */
function retryTime(receivedAt: number, now: number): Date {
  const pause = Math.min(Math.max(now - receivedAt, retrySeconds * 1000), maxPauseMilliseconds);
  return new Date(Math.min(now + pause, receivedAt + waitMilliseconds));
}

interface Settled {
  /** Keys whose records no longer wait. */
  readonly keys: readonly string[];
  /** All refused records of a batch that is finished. */
  readonly refused: readonly RefusedRecord[];
}

async function storeBatch(
  { shopId, sourceId, batchId }: BatchKey,
  shop: ImportShop,
  parts: WorkParts,
): Promise<void> {
  const key = { shopId, sourceId, batchId };
  const { sql, clock, log } = parts;
  await updateBatchAttempts(sql, key);
  const keepers = await listKeepers(sql, shop.id);
  const settled = await sql.begin(async (tx): Promise<Settled> => {
    // Another instance that stores it, or an earlier one, holds this up, which keeps the order.
    const batch = await lockOpenBatch(tx, key);
    if (!batch) return { keys: [], refused: [] };
    const now = clock.now();
    const lines = linesOf(batch.lines);
    const refused: RefusedRecord[] = JSON.parse(batch.refused);
    if (batch.attempts > maxAttempts) {
      log.error({ ...key }, 'pushed batch failed; its records are not stored');
      const reason = `it could not be stored in ${maxAttempts} attempts; the log of the service says why`;
      refused.push(...lines.map(({ number }) => refusedRecord(number, reason)));
      await updateBatch(tx, key, {
        ...finishedAt(now),
        ...resultOf(batch, {}, refused),
        hasFailed: true,
      });
      return { keys: batch.waitingKeys, refused };
    }
    const mayWait = now < batch.receivedAt.getTime() + waitMilliseconds;
    const waiting: Line[] = [];
    const counts = await importRecords([{ name: key.sourceId, lines: chunksOf(lines) }], {
      sql: asSql(tx),
      shop,
      feed: 'push',
      clock,
      log,
      // They may have `sourceIds`, mapped ones `preserve`; whatever else only feeds may send was dropped.
      isFromFeed: true,
      isPartial: true,
      whyNotTaken: whyNotTaken(keepers, shop.id, ''),
      waitingKeys: await listWaitingKeys(tx, key, keysOf(lines)),
      ...(mayWait && { keepWaiting: (some: readonly Line[]) => void waiting.push(...some) }),
      refuse(_source, line, reason, record) {
        refused.push(refusedRecord(line.number, reason, record));
      },
    });
    const waitingKeys = keysOf(waiting);
    await updateBatch(tx, key, {
      ...resultOf(batch, counts, refused),
      hasFailed: false,
      ...(waiting.length === 0
        ? finishedAt(now)
        : {
            lines: textOf(waiting),
            waitingKeys,
            retryAt: retryTime(batch.receivedAt.getTime(), now),
            finishedAt: null,
          }),
    });
    return {
      keys: batch.waitingKeys.filter((each) => !waitingKeys.includes(each)),
      refused: waiting.length === 0 ? refused : [],
    };
  });
  const [first] = settled.refused;
  if (first) {
    // One line, however many they are.
    const { length: count } = settled.refused;
    log.warn({ ...key, refused: count, reason: first.reason }, 'pushed records refused');
    parts.countRefused(count);
  }
  // Later records with the same keys have waited for these only.
  if (settled.keys.length > 0) {
    await updateRetries(sql, key, settled.keys, new Date(clock.now()));
  }
}

/** @param refused all of the batch's, which are put in order */
function resultOf(batch: OpenBatch, counts: ImportCounts, refused: RefusedRecord[]) {
  refused.sort((a, b) => a.line - b.line);
  return {
    outcomes: JSON.stringify(addOutcomes(JSON.parse(batch.outcomes), counts, refused)),
    refused: JSON.stringify(refused),
    refusedCount: refused.length,
  };
}

/** What a finished batch has no longer. */
function finishedAt(now: number) {
  return { lines: null, waitingKeys: [], retryAt: null, finishedAt: new Date(now) };
}

/** Types and ids of the records. */
function keysOf(lines: readonly Line[]): string[] {
  return [...new Set(lines.map(({ text }) => keyOf(JSON.parse(text))))];
}

/** A batch's lines as they are stored: the number of each, and its record. */
export function textOf(lines: readonly Line[]): string {
  return lines
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, text }) => `${number} ${toStored(text)}`)
    .join('\n');
}

function linesOf(text: string | null): Line[] {
  if (text === null || text === '') return [];
  return text.split('\n').map((line) => {
    const end = line.indexOf(' ');
    return { number: Number(line.slice(0, end)), text: fromStored(line.slice(end + 1)) };
  });
}

async function* chunksOf(lines: readonly Line[]): AsyncGenerator<readonly Line[]> {
  yield lines;
}

/**
 * Lets an import run within one transaction: whatever it would commit is committed with that, or not at all.
 * Work that fails leaves the transaction aborted, so it must then fail as a whole.
 */
function asSql(tx: Transaction): Sql {
  const query: Transaction = Object.assign(
    ((strings, ...parts) => tx(strings, ...parts)) as Transaction,
    { id: tx.id, unsafe: tx.unsafe, script: tx.script },
  );
  return Object.assign(query, {
    begin: (work: (inner: Transaction) => Promise<unknown>) => work(tx),
  }) as unknown as Sql;
}
