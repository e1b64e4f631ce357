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
  listOpenBatches,
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
import { fromStored, toStored } from '../records/columns.ts';

export const pushQueue = 'push';

/** How long a record waits for one that it refers to, and the pauses between attempts meanwhile. */
const waitMilliseconds = 10 * 60_000;
const retrySeconds = 10;
const maxPauseMilliseconds = 60_000;
/** Further attempts would fail like these; until then, the source's later batches wait. */
const maxAttempts = 8;
/** Of those queued, and of those that wait. Then other sources get their turn. */
const batchesPerJob = 50;

interface WorkParts {
  /** Connections reserved for jobs. */
  readonly sql: Sql;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts records that are refused for good. */
  countRefused(records: number): void;
}

type SourceKey = Omit<BatchKey, 'batchId'>;

/** Has a source's batches stored, soon, by some instance. */
export async function sendPushJob(
  { queue, clock }: Pick<WorkParts, 'queue' | 'clock'>,
  { shopId, sourceId }: SourceKey,
  afterSeconds = 0,
): Promise<void> {
  const receivedAt = new Date(clock.now()).toISOString();
  const job = { shopId, event: randomUUID(), topic: pushQueue, receivedAt, kind: sourceId };
  // A job for later must not count as the one that a new batch needs now.
  await queue.send(pushQueue, job, afterSeconds > 0 ? `${sourceId} later` : sourceId, afterSeconds);
}

/**
 * Stores a source's batches, each in one transaction with its outcomes, in the order in which they arrived.
 * Those with records that refer to unknown ones are tried again from time to time, for some minutes.
 */
export function createPushWorker(parts: WorkParts) {
  const { sql, clock } = parts;
  return async ({ shopId, kind: sourceId }: Job, signal: AbortSignal): Promise<void> => {
    const source = { shopId, sourceId };
    const shop = await findShop(sql, shopId);
    if (!shop) return deleteJobsOfShop(sql, shopId);
    const importShop = importShopOf(shop);
    const { queued, due } = await findWork(parts, source);
    // Some of both, so that neither new batches nor those that wait hold up the others.
    for (const { batchId } of [...queued.slice(0, batchesPerJob), ...due.slice(0, batchesPerJob)]) {
      signal.throwIfAborted();
      await storeBatch({ ...source, batchId }, importShop, parts);
    }
    const left = await findWork(parts, source);
    const isMoreDue = left.queued.length + left.due.length > 0;
    if (left.count > 0) await sendPushJob(parts, source, isMoreDue ? 0 : retrySeconds);
    const before = new Date(clock.now() - keptMilliseconds);
    await deleteOldBatches(sql, source, before, timelessSchemes);
  };
}

/** A source's batches that are queued, in order, and those that are to be tried again by now. */
async function findWork({ sql, clock }: WorkParts, source: SourceKey) {
  const open = await listOpenBatches(sql, source);
  const queued = open.filter(({ retryAt }) => retryAt === null);
  const due = open
    .flatMap(({ batchId, retryAt }) =>
      retryAt !== null && retryAt.getTime() <= clock.now() ? [{ batchId, retryAt }] : [],
    )
    .toSorted((a, b) => a.retryAt.getTime() - b.retryAt.getTime());
  return { queued, due, count: open.length };
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

async function storeBatch(key: BatchKey, shop: ImportShop, parts: WorkParts): Promise<void> {
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
