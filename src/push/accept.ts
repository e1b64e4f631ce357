import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type Answer, privateJson, refuse } from '../http/answer.ts';
import { importShopOf } from '../ingest/apply.ts';
import type { Line } from '../ingest/lines.ts';
import { type RecordSchema, records, recordSchema } from '../records/records.ts';
import { parseRowJson } from '../mapping/rows.ts';
import type { Mapping } from '../mapping/schema.ts';
import { parseRecordJson } from '../records/json.ts';
import { type JobQueue, idOf } from '../platforms/webhooks/queue.ts';
import type { Sql } from '../store/database.ts';
import {
  type BatchState,
  type QueueUse,
  findBatch,
  findQueueUse,
  insertBatch,
  queueParts,
} from '../store/push/batches.ts';
import { ensureCustomerKey } from '../store/records/customer-keys.ts';
import type { PushSource } from '../store/push/sources.ts';
import type { Shop } from '../store/shops.ts';
import { type BodyRow, readRows, Turns } from './body.ts';
import { countEntries as countMapped, entriesOf, mapDocuments } from './mappings.ts';
import { type RefusedRecord, firstOutcomes, refusedRecord } from './outcomes.ts';
import { countEntries, nameOfPushed, prepareRecord } from './records.ts';
import { sendPushJob, textOf } from './store-batches.ts';

/** How much of the queue a shop may use. Each of its sources may take as much of that as is free, so half of it alone. */
export const maxQueueUse: QueueUse = { queued: 400, waiting: 4000, bytes: 256 * 1024 * 1024 };
const retryAfterSeconds = 5;
/** In the lists of all records of a request: as many as one record may have. */
const maxListEntries = records.plan.fields.productIds.max;

interface AcceptParts {
  readonly sql: Sql;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** A request whose signature is valid. */
export interface Delivery {
  readonly source: PushSource;
  readonly shop: Shop;
  /** The sender's id of the request; undefined if it sends none: then the body stands for it. */
  readonly id: string | undefined;
  readonly body: Buffer;
  /** Translates the body; undefined for import records. */
  readonly mapping?: { readonly name: string; readonly rules: Mapping };
}

/** Whether one of many may take more: at most as much as it leaves free for all others, however many there are. */
export function hasShare(own: number, all: number, max: number): boolean {
  return own < max - all;
}

/** Back-pressure. */
export function tooBusy(headers: Readonly<Record<string, string>> = {}): Answer {
  return refuse(429, `Too much is queued. Retry after ${retryAfterSeconds} seconds.`, {
    ...privateJson,
    'retry-after': String(retryAfterSeconds),
    ...headers,
  });
}

/**
 * Stores a request's records in the queue, once, and says under which batch id.
 * @throws CommandError if the queue is not open
 */
export async function acceptRecords(delivery: Delivery, parts: AcceptParts): Promise<Answer> {
  const { source, shop, body, mapping } = delivery;
  const { sql, clock, queue } = parts;
  await queue.opened();
  // The same body is something else for another mapping.
  const digest = hash(
    'sha256',
    Buffer.concat([Buffer.from(`${mapping?.name ?? ''}\n`), body]),
    'base64',
  );
  const key = {
    shopId: source.shopId,
    sourceId: source.sourceId,
    batchId: idOf('push', source.sourceId, delivery.id ?? `body ${digest}`),
  };
  const repeated = async (known: BatchState) => {
    if (known.digest !== digest) {
      return refuse(
        400,
        'This webhook-id came with another body before; use a new one for each request.',
        privateJson,
      );
    }
    // The first request may have ended before its job was stored.
    if (known.finishedAt === null) await sendPushJob(parts, key.shopId);
    return accepted(key.batchId);
  };

  const known = await findBatch(sql, key);
  if (known) return repeated(known);
  const turns = new Turns(clock);
  const sent = await readRows(body, turns, mapping ? parseRowJson : parseRecordJson);
  const read = mapping && !('refusal' in sent) ? entriesOf(sent, mapping.rules) : sent;
  if ('refusal' in read) return read.refusal;
  const entries = read.rows.reduce(
    (sum, row) => sum + (mapping ? countMapped(row, mapping.rules) : countEntries(row)),
    0,
  );
  if (entries > maxListEntries) {
    const text = `The lists in the body have more than ${maxListEntries} entries; send at most ${maxListEntries} in one request.`;
    return refuse(413, text, privateJson);
  }
  const [use, customerKey] = await Promise.all([
    findQueueUse(sql, key),
    ensureCustomerKey(sql, shop.id),
  ]);
  if (queueParts.some((part) => !hasShare(use.source[part], use.shop[part], maxQueueUse[part]))) {
    return tooBusy();
  }

  const importShop = importShopOf(shop);
  const schema = recordSchema(importShop.minorDigits, clock, true);
  const made = mapping
    ? await mapDocuments(read.rows, mapping.rules, {
        shop: importShop,
        customerKey,
        clock,
        schema,
        turns,
      })
    : await prepareRecords(read.rows, schema, customerKey, turns);
  const refused = [...read.refused, ...made.refused].toSorted((a, b) => a.line - b.line);
  const isNew = await insertBatch(sql, {
    ...key,
    digest,
    receivedAt: new Date(clock.now()),
    lines: textOf(made.lines),
    outcomes: JSON.stringify(firstOutcomes(refused, made.warnings)),
    refused: JSON.stringify(refused),
  });
  if (!isNew) {
    // The same request came twice at once.
    const first = await findBatch(sql, key);
    return first ? repeated(first) : tooBusy();
  }
  await sendPushJob(parts, key.shopId);
  return accepted(key.batchId);
}

async function prepareRecords(
  rows: readonly BodyRow[],
  schema: RecordSchema,
  customerKey: string,
  turns: Turns,
) {
  const lines: Line[] = [];
  const refused: RefusedRecord[] = [];
  for (const { number, value } of rows) {
    await turns.pass();
    const prepared = prepareRecord(value, schema, customerKey);
    if ('problem' in prepared) {
      refused.push(refusedRecord(number, prepared.problem, nameOfPushed(value)));
    } else lines.push({ number, text: JSON.stringify(prepared.record) });
  }
  return { lines, refused, warnings: [] };
}

function accepted(batchId: string): Answer {
  return { status: 202, headers: privateJson, body: JSON.stringify({ batchId }) };
}
