import { type Sql, type Transaction, arrayText } from '../database.ts';

/** Names a batch. */
export interface BatchKey {
  readonly shopId: number;
  readonly sourceId: string;
  /** A UUID. */
  readonly batchId: string;
}

type SourceKey = Omit<BatchKey, 'batchId'>;

/** How long what became of a batch can be read, and a repeated request is recognised. */
export const keptMilliseconds = 30 * 86_400_000;

/** What became of a batch so far. */
export interface BatchState {
  readonly digest: string;
  readonly attempts: number;
  /** JSON. */
  readonly outcomes: string;
  /** JSON. */
  readonly refused: string;
  readonly hasFailed: boolean;
  readonly finishedAt: Date | null;
}

/** A batch that is not finished. */
export interface OpenBatch extends BatchState {
  readonly batchId: string;
  readonly receivedAt: Date;
  /** What is still to be stored. */
  readonly lines: string | null;
  /** Keys of its records that wait. */
  readonly waitingKeys: readonly string[];
}

export async function findBatch(
  sql: Sql,
  { shopId, sourceId, batchId }: BatchKey,
): Promise<BatchState | undefined> {
  const [found] = await sql<BatchState[]>`
    select digest, attempts, outcomes, refused, has_failed as "hasFailed",
      finished_at as "finishedAt"
    from ingest.batches
    where shop_id = ${shopId} and source_id = ${sourceId} and batch_id = ${batchId}`;
  return found;
}

type NewBatch = BatchKey &
  Pick<BatchState, 'digest' | 'outcomes' | 'refused'> & {
    readonly receivedAt: Date;
    readonly lines: string;
  };

/** @returns false if there is such a batch already */
export async function insertBatch(sql: Sql, batch: NewBatch): Promise<boolean> {
  const { shopId, sourceId, batchId, digest, receivedAt, lines, outcomes, refused } = batch;
  const result = await sql`
    insert into ingest.batches
      (shop_id, source_id, batch_id, digest, received_at, lines, outcomes, refused)
    select shop_id, ${sourceId}, ${batchId}, ${digest}, ${receivedAt}, ${lines}, ${outcomes}, ${refused}
    from shops where shop_id = ${shopId}
    on conflict do nothing`;
  return result.count === 1;
}

/** What fills the queue: batches that are queued, those that wait for records that have not arrived, and bytes of both. */
export const queueParts = ['queued', 'waiting', 'bytes'] as const;
export type QueueUse = Readonly<Record<(typeof queueParts)[number], number>>;

/** How much of the queue a shop uses, and a source of it. */
export async function findQueueUse(
  sql: Sql,
  { shopId, sourceId }: SourceKey,
): Promise<{ readonly shop: QueueUse; readonly source: QueueUse }> {
  const found = await sql<(QueueUse & { sourceId: string })[]>`
    select source_id as "sourceId", ${sql.unsafe(queueUse)}
    from ingest.batches where shop_id = ${shopId} and finished_at is null group by source_id`;
  const none: QueueUse = { queued: 0, waiting: 0, bytes: 0 };
  const add = (sum: QueueUse, { queued, waiting, bytes }: QueueUse) => ({
    queued: sum.queued + queued,
    waiting: sum.waiting + waiting,
    bytes: sum.bytes + bytes,
  });
  return {
    shop: found.reduce(add, none),
    source: found.find((each) => each.sourceId === sourceId) ?? none,
  };
}

// The length of a text is known without reading it.
const queueUse = `count(*) filter (where not is_waiting)::int as queued,
  count(*) filter (where is_waiting)::int as waiting,
  coalesce(sum(octet_length(lines)), 0)::bigint as bytes`;

/** The unfinished batches of all shops: how many there are, the most of one shop, and how old they are. */
export async function summariseOpenBatches(sql: Sql): Promise<{
  readonly queued: number;
  readonly waiting: number;
  readonly most: QueueUse;
  readonly oldestReceivedAt: Date | null;
}> {
  const [found] = await sql<
    { queued: number; waiting: number; most: string; oldestReceivedAt: Date | null }[]
  >`
    select coalesce(sum(queued), 0)::int as queued, coalesce(sum(waiting), 0)::int as waiting,
      json_build_object('queued', coalesce(max(queued), 0), 'waiting', coalesce(max(waiting), 0),
        'bytes', coalesce(max(bytes), 0))::text as most,
      min(oldest) as "oldestReceivedAt"
    from (
      select ${sql.unsafe(queueUse)}, min(received_at) as oldest
      from ingest.batches where finished_at is null group by shop_id
    ) shops`;
  if (!found) throw new Error('Sums have a row.');
  return { ...found, most: JSON.parse(found.most) };
}

/** The batch of a source that is to be stored next. */
export interface NextBatch extends BatchKey {
  readonly attempts: number;
  readonly bytes: number;
  /** When it is tried again, if its records wait for others. */
  readonly dueAt: Date | null;
}

/** Of each source of a shop the first batch that is queued, or of those that wait, the first one to be tried again. */
export async function listNextBatches(
  sql: Sql,
  shopId: number,
  isWaiting: boolean,
): Promise<NextBatch[]> {
  return sql<NextBatch[]>`
    select distinct on (source_id) shop_id as "shopId", source_id as "sourceId",
      batch_id as "batchId", attempts, coalesce(octet_length(lines), 0) as bytes,
      case when is_waiting then coalesce(retry_at, received_at) end as "dueAt"
    from ingest.batches
    where shop_id = ${shopId} and finished_at is null and is_waiting = ${isWaiting}
    order by source_id, retry_at nulls first, position`;
}

/** The shops that have unfinished batches. */
export async function listShopsWithOpenBatches(sql: Sql): Promise<number[]> {
  const found = await sql<{ shopId: number }[]>`
    select distinct shop_id as "shopId" from ingest.batches where finished_at is null order by 1`;
  return found.map(({ shopId }) => shopId);
}

/** Locks a batch until the transaction ends. @returns undefined if it was finished meanwhile */
export async function lockOpenBatch(
  tx: Transaction,
  { shopId, sourceId, batchId }: BatchKey,
): Promise<OpenBatch | undefined> {
  const [found] = await tx<(OpenBatch & { keys: string })[]>`
    select batch_id as "batchId", digest, attempts, outcomes, refused, has_failed as "hasFailed",
      finished_at as "finishedAt", received_at as "receivedAt", lines,
      array_to_string(waiting_keys, ',') as keys
    from ingest.batches
    where shop_id = ${shopId} and source_id = ${sourceId} and batch_id = ${batchId}
      and finished_at is null
    for update`;
  return found && { ...found, waitingKeys: splitKeys(found.keys) };
}

/** Which of these keys have records that wait in earlier batches of the same source. */
export async function listWaitingKeys(
  tx: Transaction,
  { shopId, sourceId, batchId }: BatchKey,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await tx<{ keys: string }[]>`
    select array_to_string(waiting_keys, ',') as keys from ingest.batches
    where shop_id = ${shopId} and source_id = ${sourceId} and finished_at is null
      and waiting_keys && ${arrayText(keys)}::text[]
      and position < (
        select position from ingest.batches
        where shop_id = ${shopId} and source_id = ${sourceId} and batch_id = ${batchId})`;
  return new Set(found.flatMap((each) => splitKeys(each.keys)));
}

/** Arrays are read as text. */
function splitKeys(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

/** Has the batches tried again now that have records with these keys waiting. */
export async function updateRetries(
  sql: Sql,
  { shopId, sourceId }: SourceKey,
  keys: readonly string[],
  retryAt: Date,
): Promise<void> {
  await sql`
    update ingest.batches set retry_at = ${retryAt}
    where shop_id = ${shopId} and source_id = ${sourceId} and finished_at is null
      and waiting_keys && ${arrayText(keys)}::text[]`;
}

/** Notes that storing a batch begins. */
export async function updateBatchAttempts(
  sql: Sql,
  { shopId, sourceId, batchId }: BatchKey,
): Promise<void> {
  await sql`
    update ingest.batches set attempts = attempts + 1
    where shop_id = ${shopId} and source_id = ${sourceId} and batch_id = ${batchId}
      and finished_at is null`;
}

type Progress = Pick<
  OpenBatch,
  'outcomes' | 'refused' | 'lines' | 'waitingKeys' | 'hasFailed' | 'finishedAt'
> & {
  /** How many of its records are refused. */
  readonly refusedCount: number;
  /** Null once it is finished. */
  readonly retryAt: Date | null;
};

/** Stores what became of a batch. It waits if lines are left. */
export async function updateBatch(
  tx: Transaction,
  { shopId, sourceId, batchId }: BatchKey,
  progress: Progress,
): Promise<void> {
  const { outcomes, refused, refusedCount, lines, waitingKeys, retryAt } = progress;
  const { hasFailed, finishedAt } = progress;
  await tx`
    update ingest.batches
    set outcomes = ${outcomes}, refused = ${refused}, refused_count = ${refusedCount}, lines = ${lines},
      waiting_keys = ${arrayText(waitingKeys)}::text[], retry_at = ${retryAt},
      is_waiting = ${finishedAt === null}, has_failed = ${hasFailed}, finished_at = ${finishedAt},
      attempts = case when ${finishedAt === null} then 1 else attempts end
    where shop_id = ${shopId} and source_id = ${sourceId} and batch_id = ${batchId}`;
}

/**
 * Deletes what a source's batches before then have left: digests and outcomes.
 * @param keeping schemes whose sources keep them until they are revoked
 */
export async function deleteOldBatches(
  sql: Sql,
  { shopId, sourceId }: SourceKey,
  before: Date,
  keeping: readonly string[],
): Promise<void> {
  await sql`
    delete from ingest.batches
    where shop_id = ${shopId} and source_id = ${sourceId} and finished_at < ${before}
      and not exists (
        select from ingest.sources s
        where s.shop_id = ${shopId} and s.source_id = ${sourceId} and s.revoked_at is null
          and s.scheme = any(${arrayText(keeping)}::text[])
      )`;
}
