import type { Log } from '../../../log/log.ts';
import { PlatformError } from '../../errors.ts';
import type { ShopifyClient } from '../api/client.ts';
import { bulkOperation, runBulkQuery, runningBulkQueries } from '../api/queries.ts';

/** https://shopify.dev/docs/api/admin-graphql/2026-01/objects/BulkOperation */
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

/** What a bulk query found, all of it. */
export interface BulkResult {
  readonly id: string;
  /** When Shopify began to look, epoch milliseconds by its clock. */
  readonly startedAt: number;
  /** Where the lines are, signed, so not to be shown; undefined where nothing was found. */
  readonly url: string | undefined;
  readonly bytes: number | undefined;
  readonly lines: number;
}

/** A bulk query ended without a whole result; another run of it may do better. */
export class NotWhole extends Error {
  override readonly name = 'NotWhole';
}

export interface BulkQuery {
  readonly client: ShopifyClient;
  readonly log: Log;
  readonly query: string;
  /** An operation of an earlier process, for the same query. */
  readonly begun: string | null;
  /** Called with the operation that is waited for, so that another process could take it up. */
  begin(id: string): Promise<void>;
}

const firstPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 60_000;
/** Other users of the app's bulk queries should have finished by then. */
const longestWaitMilliseconds = 6 * 3_600_000;

const underway = new Set(['CREATED', 'RUNNING', 'CANCELING']);
const busy = new Set(['OPERATION_IN_PROGRESS', 'LIMIT_REACHED']);

/**
 * Runs a bulk query to its end, or takes up one that was begun before.
 * @throws NotWhole
 * @throws PlatformError
 */
export async function runToEnd(bulk: BulkQuery): Promise<BulkResult> {
  const { client, begun } = bulk;
  const wait = growingWait(client);
  const known = begun === null ? null : await find(client, begun);
  let operation = known ?? (await start(bulk));
  while (underway.has(operation.status)) {
    await wait();
    const next = await find(client, operation.id);
    if (!next) throw new NotWhole('Shopify has lost the bulk query');
    operation = next;
  }
  return resultOf(operation, client.domain);
}

function growingWait(client: ShopifyClient): () => Promise<number> {
  let pause = firstPauseMilliseconds;
  let waited = 0;
  return async () => {
    // Up to a fifth more, so that several do not ask in step.
    const milliseconds = pause * (1 + client.pauses.random() / 5);
    await client.pauses.wait(milliseconds, client.signal);
    pause = Math.min(longestPauseMilliseconds, pause * 1.5);
    waited += milliseconds;
    return waited;
  };
}

async function find(client: ShopifyClient, id: string): Promise<BulkOperation | null> {
  const { node } = await client.query<{ node: BulkOperation | null }>(bulkOperation, { id });
  return node?.id === undefined ? null : node;
}

interface Started {
  readonly bulkOperationRunQuery: {
    readonly bulkOperation: BulkOperation | null;
    readonly userErrors: readonly { readonly code: string | null; readonly message: string }[];
  };
}

/** Begins the query once Shopify takes it; one that runs already for the same query is ours. */
async function start({ client, log, query, begin }: BulkQuery): Promise<BulkOperation> {
  const wait = growingWait(client);
  for (let waited = 0; ; waited = await wait()) {
    const { bulkOperationRunQuery: started } = await client.query<Started>(runBulkQuery, { query });
    const { bulkOperation: operation, userErrors } = started;
    const [error] = userErrors;
    if (operation && !error) {
      await begin(operation.id);
      return operation;
    }
    if (!busy.has(error?.code ?? '') && !/already in progress/i.test(error?.message ?? '')) {
      throw new PlatformError(
        'refused',
        `${client.domain} refused a bulk query (${error?.code ?? 'without a code'}).`,
      );
    }
    const { bulkOperations } = await client.query<{
      bulkOperations: { readonly nodes: readonly BulkOperation[] };
    }>(runningBulkQueries);
    const running = bulkOperations.nodes.filter(({ status }) => underway.has(status));
    const own = running.find((each) => isSame(each.query, query));
    if (own) {
      await begin(own.id);
      return own;
    }
    if (waited > longestWaitMilliseconds) {
      throw new PlatformError(
        'unavailable',
        `${client.domain} has run other bulk queries of this app for six hours; cancel them, or wait and run this again.`,
      );
    }
    if (waited === 0) {
      log.info({ domain: client.domain }, 'waiting until another bulk query of this app has ended');
    }
  }
}

function isSame(one: string, other: string): boolean {
  return bare(one) === bare(other);
}

/** Shopify may reformat a query. */
function bare(query: string): string {
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
      `${domain} does not let this app read all that is synchronised; docs/shopify.md lists the access scopes that it needs.`,
    );
  }
  if (status !== 'COMPLETED') {
    throw new NotWhole(`the bulk query ended as ${status}${errorCode ? ` (${errorCode})` : ''}`);
  }
  if (partialDataUrl !== null) throw new NotWhole('the bulk query found a part only');
  const lines = Number(operation.objectCount);
  if (url === null && lines > 0) throw new NotWhole('the result of the bulk query is gone');
  const startedAt = Date.parse(operation.createdAt);
  if (!Number.isSafeInteger(lines) || Number.isNaN(startedAt)) {
    throw new NotWhole('the bulk query is described in a way that nothing here expects');
  }
  return {
    id: operation.id,
    startedAt,
    url: url ?? undefined,
    bytes: operation.fileSize === null ? undefined : Number(operation.fileSize),
    lines,
  };
}
