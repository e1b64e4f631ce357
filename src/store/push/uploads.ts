import type { Sql, Transaction } from '../database.ts';

export type UploadState =
  /** The owner has not said yet whether to import it. */
  | 'waiting'
  | 'running'
  /** The owner has stopped it, and the process that imports it does not know yet. */
  | 'stopping'
  | 'done'
  | 'failed'
  /** The owner has stopped it. */
  | 'stopped'
  /** The server was stopped meanwhile. */
  | 'interrupted';

export interface UploadKey {
  readonly shopId: number;
  /** A UUID. */
  readonly uploadId: string;
}

/** A file that an owner has uploaded, and what became of it. */
export interface Upload extends UploadKey, UploadResult {
  readonly fileName: string;
  readonly bytes: number;
  readonly receivedAt: Date;
  readonly state: UploadState;
  /** JSON. */
  readonly answers: string;
  readonly activeAt: Date | null;
  readonly percent: number;
  readonly finishedAt: Date | null;
}

interface UploadResult {
  /** JSON. */
  readonly counts: string;
  /** JSON. */
  readonly refused: string;
  readonly skipped: number;
  /** JSON: those before and after, or null. */
  readonly figures: string;
  readonly problem: string | null;
}

/** The upload of a shop, which has one at most. */
export async function findUpload(sql: Sql, shopId: number): Promise<Upload | undefined> {
  const [found] = await sql<Upload[]>`
    select shop_id as "shopId", upload_id as "uploadId", file_name as "fileName",
      bytes::float8 as bytes, received_at as "receivedAt", state, answers,
      active_at as "activeAt", percent, counts, refused, skipped::float8 as skipped, figures, problem,
      finished_at as "finishedAt"
    from ingest.uploads where shop_id = ${shopId}`;
  return found;
}

type NewUpload = UploadKey & Pick<Upload, 'fileName' | 'bytes' | 'receivedAt'>;

/**
 * Stores a new upload in place of the shop's earlier one.
 * @param deadBefore a running import that was last at work before then has died
 * @returns false while the earlier one is being imported
 */
export async function upsertUpload(
  sql: Sql | Transaction,
  { shopId, uploadId, fileName, bytes, receivedAt }: NewUpload,
  deadBefore: Date,
): Promise<boolean> {
  const result = await sql`
    insert into ingest.uploads as u
      (shop_id, upload_id, file_name, bytes, received_at, state)
    select shop_id, ${uploadId}, ${fileName}, ${bytes}, ${receivedAt}, 'waiting'
    from shops where shop_id = ${shopId}
    on conflict (shop_id) do update
    set upload_id = excluded.upload_id, file_name = excluded.file_name, bytes = excluded.bytes,
      received_at = excluded.received_at, state = excluded.state, answers = excluded.answers,
      active_at = excluded.active_at, percent = excluded.percent, counts = excluded.counts,
      refused = excluded.refused, skipped = excluded.skipped, figures = excluded.figures,
      problem = excluded.problem,
      finished_at = excluded.finished_at
    where u.state not in ('running', 'stopping') or u.active_at < ${deadBefore}`;
  return result.count === 1;
}

/** @returns false if it is no longer waiting */
export async function updateUploadAnswers(
  sql: Sql,
  { shopId, uploadId }: UploadKey,
  answers: string,
): Promise<boolean> {
  const result = await sql`
    update ingest.uploads set answers = ${answers}
    where shop_id = ${shopId} and upload_id = ${uploadId} and state = 'waiting'`;
  return result.count === 1;
}

/**
 * Begins the import of an upload, or begins it again.
 * @returns false if it is running already, or done
 */
export async function beginUpload(
  sql: Sql | Transaction,
  { shopId, uploadId }: UploadKey,
  at: Date,
  deadBefore: Date,
): Promise<boolean> {
  const result = await sql`
    update ingest.uploads
    set state = 'running', active_at = ${at}, percent = 0, counts = '{}', problem = null,
      finished_at = null
    where shop_id = ${shopId} and upload_id = ${uploadId}
      and (state in ('waiting', 'failed', 'interrupted')
        or (state in ('running', 'stopping') and active_at < ${deadBefore}))`;
  return result.count === 1;
}

/** @returns false if it was stopped */
export async function updateUploadProgress(
  sql: Sql,
  { shopId, uploadId }: UploadKey,
  { at, percent, counts }: { readonly at: Date; readonly percent: number; readonly counts: string },
): Promise<boolean> {
  const result = await sql`
    update ingest.uploads set active_at = ${at}, percent = ${percent}, counts = ${counts}
    where shop_id = ${shopId} and upload_id = ${uploadId} and state = 'running'`;
  return result.count === 1;
}

/** Asks the process that imports an upload to stop. @returns false if it is not running */
export async function stopUpload(sql: Sql, { shopId, uploadId }: UploadKey): Promise<boolean> {
  const result = await sql`
    update ingest.uploads set state = 'stopping'
    where shop_id = ${shopId} and upload_id = ${uploadId} and state = 'running'`;
  return result.count === 1;
}

type Finished = UploadResult & {
  readonly state: Exclude<UploadState, 'waiting' | 'running' | 'stopping'>;
  readonly finishedAt: Date;
  /** Kept if the import can be begun again. */
  readonly answers: string;
};

/** Stores how an import ended. */
export async function finishUpload(
  sql: Sql,
  { shopId, uploadId }: UploadKey,
  { state, counts, refused, skipped, figures, problem, finishedAt, answers }: Finished,
): Promise<void> {
  await sql`
    update ingest.uploads
    set state = ${state}, counts = ${counts}, refused = ${refused}, skipped = ${skipped},
      figures = ${figures}, problem = ${problem}, finished_at = ${finishedAt}, answers = ${answers}
    where shop_id = ${shopId} and upload_id = ${uploadId} and state in ('running', 'stopping')`;
}

/** What an owner said of an earlier file with the same headings, as JSON. @param headings their digest */
export async function findRememberedAnswers(
  sql: Sql,
  shopId: number,
  headings: string,
): Promise<string | undefined> {
  const [found] = await sql<{ answers: string }[]>`
    select answers from ingest.remembered_answers
    where shop_id = ${shopId} and headings = ${headings}`;
  return found?.answers;
}

/** Remembers answers in place of earlier ones. At most 100 a shop: then the oldest go. */
export async function rememberAnswers(
  sql: Sql,
  shopId: number,
  { headings, answers, at }: { headings: string; answers: string; at: Date },
): Promise<void> {
  await sql`
    insert into ingest.remembered_answers (shop_id, headings, answers, saved_at)
    select shop_id, ${headings}, ${answers}, ${at} from shops where shop_id = ${shopId}
    on conflict (shop_id, headings) do update
    set answers = excluded.answers, saved_at = excluded.saved_at`;
  await sql`
    delete from ingest.remembered_answers where shop_id = ${shopId} and headings in (
      select headings from ingest.remembered_answers where shop_id = ${shopId}
      order by saved_at desc offset 100)`;
}

export async function forgetAnswers(sql: Sql, shopId: number, headings: string): Promise<void> {
  await sql`
    delete from ingest.remembered_answers where shop_id = ${shopId} and headings = ${headings}`;
}

/** Forgets an upload or its result. @returns false while it is being imported */
export async function deleteUpload(
  sql: Sql,
  { shopId, uploadId }: UploadKey,
  deadBefore: Date,
): Promise<boolean> {
  const result = await sql`
    delete from ingest.uploads
    where shop_id = ${shopId} and upload_id = ${uploadId}
      and (state not in ('running', 'stopping') or active_at < ${deadBefore})`;
  return result.count === 1;
}
