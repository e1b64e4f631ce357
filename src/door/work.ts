import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type ImportShop, importShopOf } from '../ingest/apply.ts';
import { importRecords } from '../ingest/import.ts';
import type { Line } from '../ingest/lines.ts';
import type { Log } from '../log/log.ts';
import { findKeeper, whyNotTaken } from '../platforms/keeper.ts';
import type { Job } from '../platforms/webhooks/job.ts';
import type { JobQueue } from '../platforms/webhooks/queue.ts';
import type { Sql } from '../store/database.ts';
import {
  type BatchKey,
  type OpenBatch,
  deleteOldBatches,
  listOpenBatches,
  lockOpenBatch,
  updateBatch,
  updateBatchAttempts,
} from '../store/door/batches.ts';
import { deleteJobsOfShop } from '../store/feeds/jobs.ts';
import { findShop } from '../store/shops.ts';
import { asSql } from './one-transaction.ts';
import { type RefusedRecord, addOutcomes } from './outcomes.ts';

export const pushQueue = 'push';

/** How long a record waits for one that it refers to, and how often it is tried meanwhile. */
const waitMilliseconds = 10 * 60_000;
const retrySeconds = 15;
/** Further attempts would fail like these; until then, the source's later batches wait. */
const maxAttempts = 8;
/** How long the outcomes of a batch can be read, and a repeated request is recognised. */
const keepMilliseconds = 30 * 86_400_000;
/** Then other sources get their turn. */
const batchesPerJob = 50;

interface WorkParts {
  /** Connections reserved for jobs. */
  readonly sql: Sql;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
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
 * Records that refer to unknown ones are tried again whenever others were stored, for some minutes.
 */
export function createPushWorker(parts: WorkParts) {
  const { sql, clock } = parts;
  return async ({ shopId, kind: sourceId }: Job, signal: AbortSignal): Promise<void> => {
    const source = { shopId, sourceId };
    const shop = await findShop(sql, shopId);
    if (!shop) return deleteJobsOfShop(sql, shopId);
    const importShop = importShopOf(shop);
    let handled = 0;
    for (let hasProgress = true; hasProgress;) {
      hasProgress = false;
      const batches = await listOpenBatches(sql, source);
      const queued = batches.filter(({ isWaiting }) => !isWaiting);
      for (const { batchId } of queued.length > 0 ? queued : batches) {
        signal.throwIfAborted();
        if (handled === batchesPerJob) return sendPushJob(parts, source);
        handled += 1;
        const settled = await storeBatch({ ...source, batchId }, importShop, parts);
        hasProgress ||= settled > 0 || queued.length > 0;
      }
    }
    const left = await listOpenBatches(sql, source);
    if (left.length > 0) await sendPushJob(parts, source, retrySeconds);
    await deleteOldBatches(sql, source, new Date(clock.now() - keepMilliseconds));
  };
}

/** @returns how many of its records need not wait any longer */
async function storeBatch(key: BatchKey, shop: ImportShop, parts: WorkParts): Promise<number> {
  const { sql, clock, log } = parts;
  await updateBatchAttempts(sql, key);
  const keeper = await findKeeper(sql, shop.id);
  return sql.begin(async (tx) => {
    // Another instance that stores it, or an earlier one, holds this up, which keeps the order.
    const batch = await lockOpenBatch(tx, key);
    if (!batch) return 0;
    const now = clock.now();
    const { lines } = batch;
    const refused: RefusedRecord[] = JSON.parse(batch.refused);
    if (batch.attempts > maxAttempts) {
      log.error({ ...key }, 'pushed batch failed; its records are not stored');
      const finishedAt = new Date(now);
      await updateBatch(tx, key, { ...batch, lines: null, hasFailed: true, finishedAt });
      return 0;
    }
    const mayWait = now < batch.receivedAt.getTime() + waitMilliseconds;
    const early: Line[] = [];
    const counts = await importRecords([{ name: key.sourceId, lines: linesOf(lines ?? '') }], {
      sql: asSql(tx),
      shop,
      feed: 'push',
      clock,
      log,
      // They may have `sourceIds`; whatever else only feeds may send was dropped.
      isFromFeed: true,
      isPartial: true,
      ...(keeper && { whyNotTaken: whyNotTaken(keeper, shop.id, '') }),
      refuse(_source, line, reason, isEarly) {
        if (isEarly && mayWait) early.push(line);
        else refused.push({ line: line.number, reason });
      },
    });
    refused.sort((a, b) => a.line - b.line);
    await updateBatch(tx, key, {
      outcomes: JSON.stringify(addOutcomes(JSON.parse(batch.outcomes), counts, refused)),
      refused: JSON.stringify(refused),
      lines: early.length === 0 ? null : textOf(early),
      hasFailed: false,
      finishedAt: early.length === 0 ? new Date(now) : null,
    });
    return countLines(batch) - early.length;
  });
}

function countLines({ lines }: Pick<OpenBatch, 'lines'>): number {
  return lines === null ? 0 : lines.split('\n').length;
}

/** A batch's lines as they are stored: the number of each, and its record. */
export function textOf(lines: readonly Line[]): string {
  return lines
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, text }) => `${number} ${text}`)
    .join('\n');
}

async function* linesOf(text: string): AsyncGenerator<Line[]> {
  if (text === '') return;
  yield text.split('\n').map((line) => {
    const end = line.indexOf(' ');
    return { number: Number(line.slice(0, end)), text: line.slice(end + 1) };
  });
}
