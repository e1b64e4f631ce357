import path from 'node:path';
import { createReadStream } from 'node:fs';
import type { LineSource } from '../../../ingest/import.ts';
import { type Line, readLines } from '../../../ingest/lines.ts';
import { type ShopifySync, updateOperation } from '../store/syncs.ts';
import { PlatformError } from '../../errors.ts';
import { IncompleteResultError, download } from './download.ts';
import { leadingGid, numberOf, parseGid } from '../api/ids.ts';
import type { SyncedShop } from '../sync/intake.ts';
import { jittered } from '../../backoff.ts';
import {
  bulkAttempts,
  bulkContracts,
  bulkPlanGroups,
  bulkRefundedOrders,
  bulkOperation,
  runBulkQuery,
  runningBulkQueries,
} from '../api/queries.ts';
import { SortedIds } from '../../../ingest/snapshot.ts';
import { isoTime } from '../../../iso-time.ts';
import type { Log } from '../../../log/log.ts';
import type { ShopifyClient } from '../api/client.ts';

/** The result of a bulk query, on this machine. */
export interface DownloadedResult {
  /** When the query started, in epoch milliseconds by Shopify's clock. */
  readonly startedAt: number;
  /** Undefined if the result is empty. */
  readonly source: LineSource | undefined;
  /** Of everything of the kind, including what is refused. */
  readonly ids: SortedIds;
  /** Whether every line that Shopify counted was read, so that missing records may be deleted. */
  readonly isComplete: boolean;
}

const kinds = {
  plans: { query: bulkPlanGroups, type: 'SellingPlan' },
  contracts: { query: bulkContracts, type: 'SubscriptionContract' },
  attempts: { query: bulkAttempts, type: 'SubscriptionBillingAttempt' },
  orders: { query: bulkRefundedOrders, type: 'Order' },
} as const;

type BulkKind = keyof typeof kinds;

const maxAttempts = 3;

/**
 * Runs a bulk query, or resumes the one that an earlier process started, and downloads its result. Those of attempts
 * and orders are quick, and are not resumed.
 * @param since epoch milliseconds, for attempts and orders
 * @throws PlatformError after three attempts without a complete result
 */
export async function fetchBulkResult(
  synced: SyncedShop,
  kind: BulkKind,
  { plansOperation, contractsOperation }: ShopifySync,
  folder: string,
  since = 0,
): Promise<DownloadedResult> {
  const { client, sql, shop, clock, log } = synced;
  const query = kinds[kind].query.replace('SINCE', isoTime(since));
  const file = path.join(folder, `${kind}.jsonl`);
  const saveOperation = (id: string | null) =>
    updateOperation(sql, shop.id, kind, id, new Date(clock.now()));
  const resumable = { plans: plansOperation, contracts: contractsOperation };
  let earlierOperation = resumable[kind as keyof typeof resumable] ?? null;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await runToCompletion({ client, log, query, earlierOperation, saveOperation });
      return await downloadResult(result, kind, file, synced);
    } catch (error) {
      if (!(error instanceof IncompleteResultError)) throw error;
      await saveOperation(null);
      earlierOperation = null;
      if (attempt === maxAttempts) {
        throw new PlatformError(
          'unavailable',
          `${client.domain} returned no complete result in ${maxAttempts} bulk queries: ${error.message}. Nothing was deleted.`,
        );
      }
      log.warn({ shop: shop.id, kind, reason: error.message }, 'retrying a bulk query');
      await client.backoff.wait(jittered(attempt, client.backoff.random()), client.signal);
    }
  }
}

async function downloadResult(
  { startedAt, url, bytes, lines }: BulkResult,
  kind: BulkKind,
  file: string,
  { client, shop, log }: SyncedShop,
): Promise<DownloadedResult> {
  const { origin, backoff, signal } = client;
  const ids = new SortedIds();
  if (url === undefined) return { startedAt, source: undefined, ids, isComplete: true };
  await download({ url, origin, file, bytes, backoff, signal });

  let [read, unreadable] = [0, 0];
  for await (const some of linesIn(file)) {
    signal?.throwIfAborted();
    read += some.length;
    for (const { text } of some) {
      const gid = parseGid(leadingGid(text));
      if (!gid) unreadable += 1;
      else if (gid.type === kinds[kind].type) ids.add(numberOf(gid.key) ?? 0);
    }
  }
  if (bytes === undefined && read < lines) {
    throw new IncompleteResultError('lines of the result are missing');
  }
  const isComplete = unreadable === 0 && read === lines;
  if (!isComplete) {
    log.warn(
      { shop: shop.id, kind, lines, read, unreadable },
      'bulk result may be incomplete; not deleting missing records',
    );
  }
  const source = { name: `${client.domain} ${kind}`, lines: linesIn(file) };
  return { startedAt, source, ids, isComplete };
}

/** Opens the file only when it is read, because a sync that is stopped earlier removes it. */
async function* linesIn(file: string): AsyncGenerator<readonly Line[]> {
  yield* readLines(createReadStream(file));
}

/** https://shopify.dev/docs/api/admin-graphql/2026-10/objects/BulkOperation */
interface BulkOperation {
  readonly id: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly createdAt: string;
  /** Integers as text. */
  readonly objectCount: string;
  readonly fileSize: string | null;
  readonly url: string | null;
  readonly partialDataUrl: string | null;
  readonly query: string;
}

/** The complete result of a bulk query, still at Shopify. */
interface BulkResult {
  readonly id: string;
  /** When the query started, in epoch milliseconds by Shopify's clock. */
  readonly startedAt: number;
  /** The signed URL of the lines, which is a secret; undefined if there are none. */
  readonly url: string | undefined;
  readonly bytes: number | undefined;
  readonly lines: number;
}

interface BulkQuery {
  readonly client: ShopifyClient;
  readonly log: Log;
  readonly query: string;
  /** The operation that an earlier process started for the same query. */
  readonly earlierOperation: string | null;
  /** Saves the operation that is waited for, so that another process can resume it. */
  saveOperation(id: string): Promise<void>;
}

const minPauseMilliseconds = 1_000;
const maxPauseMilliseconds = 60_000;
/** For other bulk queries of the app to finish. */
const maxWaitMilliseconds = 6 * 3_600_000;

const unfinished = new Set(['CREATED', 'RUNNING', 'CANCELING']);
const busyCodes = new Set(['OPERATION_IN_PROGRESS', 'LIMIT_REACHED']);

/**
 * Runs a bulk query and waits for it, or resumes waiting for an earlier one.
 * @throws IncompleteResultError
 * @throws PlatformError
 */
async function runToCompletion(bulk: BulkQuery): Promise<BulkResult> {
  const { client, earlierOperation } = bulk;
  const wait = createBackoff(client);
  const earlier = earlierOperation === null ? null : await find(client, earlierOperation);
  let operation = earlier ?? (await start(bulk));
  while (unfinished.has(operation.status)) {
    await wait();
    const next = await find(client, operation.id);
    if (!next) throw new IncompleteResultError('Shopify no longer has the bulk query');
    operation = next;
  }
  return resultOf(operation, client.domain);
}

/** @returns a function that waits a little longer each time, and returns the total so far */
function createBackoff(client: ShopifyClient): () => Promise<number> {
  let pause = minPauseMilliseconds;
  let waited = 0;
  return async () => {
    // Up to 20% of jitter, so that several clients do not poll in step.
    const milliseconds = pause * (1 + client.backoff.random() / 5);
    await client.backoff.wait(milliseconds, client.signal);
    pause = Math.min(maxPauseMilliseconds, pause * 1.5);
    waited += milliseconds;
    return waited;
  };
}

async function find(client: ShopifyClient, id: string): Promise<BulkOperation | null> {
  const { node } = await client.query<{ node: BulkOperation | null }>(bulkOperation, { id });
  return node?.id === undefined ? null : node;
}

interface StartResult {
  readonly bulkOperationRunQuery: {
    readonly bulkOperation: BulkOperation | null;
    readonly userErrors: readonly { readonly code: string | null; readonly message: string }[];
  };
}

/** Starts the query once Shopify accepts it, or adopts a running operation with the same query. */
async function start({ client, log, query, saveOperation }: BulkQuery): Promise<BulkOperation> {
  const wait = createBackoff(client);
  for (let waited = 0; ; waited = await wait()) {
    const { bulkOperationRunQuery: result } = await client.query<StartResult>(runBulkQuery, {
      query,
    });
    const { bulkOperation: operation, userErrors } = result;
    const [error] = userErrors;
    if (operation && !error) {
      await saveOperation(operation.id);
      return operation;
    }
    if (!busyCodes.has(error?.code ?? '') && !/already in progress/i.test(error?.message ?? '')) {
      throw new PlatformError(
        'refused',
        `${client.domain} refused a bulk query (${error?.code ?? 'no error code'}).`,
      );
    }
    const { bulkOperations } = await client.query<{
      bulkOperations: { readonly nodes: readonly BulkOperation[] };
    }>(runningBulkQueries);
    const running = bulkOperations.nodes.filter(({ status }) => unfinished.has(status));
    const same = running.find((each) => isSameQuery(each.query, query));
    if (same) {
      await saveOperation(same.id);
      return same;
    }
    if (waited > maxWaitMilliseconds) {
      throw new PlatformError(
        'unavailable',
        `${client.domain} has been running other bulk queries of this app for six hours; cancel them, or try again later.`,
      );
    }
    if (waited === 0) {
      log.info({ domain: client.domain }, 'waiting for another bulk query of this app');
    }
  }
}

function isSameQuery(one: string, other: string): boolean {
  return normalize(one) === normalize(other);
}

/** Removes differences in formatting, which Shopify may change. */
function normalize(query: string): string {
  return query
    .replace(/[\s,]+/g, ' ')
    .replace(/ ?([{}():]) ?/g, '$1')
    .trim();
}

function resultOf(operation: BulkOperation, domain: string): BulkResult {
  const { status, errorCode, url, partialDataUrl } = operation;
  if (errorCode === 'ACCESS_DENIED') {
    throw new PlatformError(
      'refused',
      `${domain} denies this app access to some of the data to sync; docs/shopify.md lists the required access scopes.`,
    );
  }
  if (status !== 'COMPLETED') {
    throw new IncompleteResultError(
      `the bulk query ended as ${status}${errorCode ? ` (${errorCode})` : ''}`,
    );
  }
  if (partialDataUrl !== null) {
    throw new IncompleteResultError('the bulk query returned only part of the data');
  }
  const lines = Number(operation.objectCount);
  if (url === null && lines > 0) {
    throw new IncompleteResultError('the result of the bulk query is gone');
  }
  const startedAt = Date.parse(operation.createdAt);
  if (!Number.isSafeInteger(lines) || Number.isNaN(startedAt)) {
    throw new IncompleteResultError('Shopify described the bulk query in an unexpected format');
  }
  return {
    id: operation.id,
    startedAt,
    url: url ?? undefined,
    bytes: operation.fileSize === null ? undefined : Number(operation.fileSize),
    lines,
  };
}
