import type { IncomingMessage, ServerResponse } from 'node:http';
import { bulkProblem } from './schema/bulk-limits.ts';
import { schema } from './schema/execution.ts';
import { type Faults, occurs } from './stand-in.ts';
import type { StandInWorld } from './stand-in-world.ts';

interface Operation {
  readonly id: string;
  status: string;
  errorCode: string | null;
  readonly createdAt: string;
  completedAt: string | null;
  objectCount: string;
  fileSize: string | null;
  url: string | null;
  partialDataUrl: string | null;
  readonly query: string;
  readonly isGrouped: boolean;
}

/** Shopify's limit for an app in one shop. */
const maxRunning = 5;

function refuse(code: string, message: string) {
  return { bulkOperation: null, userErrors: [{ code, message }] };
}

/** Bulk operations: each completes after being polled a few times. */
export class BulkOperations {
  readonly operations: Operation[] = [];
  /** The number of polls after which an operation completes. */
  polls = 2;
  readonly #world: StandInWorld;
  readonly #faults: Faults;
  readonly #baseUrl: string;
  readonly #results = new Map<string, Buffer>();
  readonly #polled = new Map<string, number>();

  constructor(world: StandInWorld, faults: Faults, baseUrl: string) {
    this.#world = world;
    this.#faults = faults;
    this.#baseUrl = baseUrl;
  }

  run(query: string, isGrouped = false) {
    const running = this.operations.filter(({ status }) => status === 'RUNNING');
    if (occurs(this.#faults, 'busy')) {
      return refuse(
        'OPERATION_IN_PROGRESS',
        'A bulk query operation for this app and shop is already in progress.',
      );
    }
    if (running.length >= maxRunning) {
      return refuse('LIMIT_REACHED', 'Bulk operations limit reached. Please try again later.');
    }
    const problem = bulkProblem(schema, query);
    if (problem !== undefined) return refuse('INVALID', problem);
    const operation: Operation = {
      id: `gid://shopify/BulkOperation/${5_550_001 + this.operations.length}`,
      status: 'RUNNING',
      errorCode: null,
      createdAt: new Date(Date.now() - 1000).toISOString().replace(/\.\d+/, ''),
      completedAt: null,
      objectCount: '0',
      fileSize: null,
      url: null,
      partialDataUrl: null,
      query,
      isGrouped,
    };
    this.operations.unshift(operation);
    return { bulkOperation: { ...operation, status: 'CREATED' }, userErrors: [] };
  }

  list(): readonly Operation[] {
    return this.operations;
  }

  poll(id: string): Operation | null {
    const operation = this.operations.find((each) => each.id === id);
    if (!operation) return null;
    const polled = (this.#polled.get(id) ?? 0) + 1;
    this.#polled.set(id, polled);
    if (operation.status === 'RUNNING' && polled >= this.polls) this.#end(operation);
    return operation;
  }

  #end(operation: Operation): void {
    operation.completedAt = new Date().toISOString();
    if (occurs(this.#faults, 'failedOperations')) {
      Object.assign(operation, { status: 'FAILED', errorCode: 'INTERNAL_SERVER_ERROR' });
      operation.partialDataUrl = this.#keep(operation, this.#linesOf(operation).slice(0, 3));
      return;
    }
    operation.status = 'COMPLETED';
    const lines = this.#linesOf(operation);
    if (occurs(this.#faults, 'partialOperations')) {
      operation.partialDataUrl = this.#keep(operation, lines.slice(0, 3));
      return;
    }
    operation.objectCount = String(lines.length);
    operation.url = lines.length === 0 ? null : this.#keep(operation, lines);
  }

  #linesOf({ query, isGrouped }: Operation): string[] {
    return this.#world.bulkResult(query, isGrouped);
  }

  #keep(operation: Operation, lines: readonly string[]): string {
    const path = `/results/${operation.id.split('/').at(-1)}.jsonl`;
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    this.#results.set(path, bytes);
    operation.fileSize = String(bytes.length);
    return `${this.#baseUrl}${path}?Expires=1764287470&Signature=secret`;
  }

  /** Sends a result, from the requested offset on. */
  async send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = this.#results.get(request.url?.split('?')[0] ?? '');
    if (!bytes || request.headers['x-shopify-access-token'] !== undefined) {
      response.writeHead(404).end();
      return;
    }
    if (occurs(this.#faults, 'expiredDownloads')) {
      response.writeHead(403).end('<Error><Code>ExpiredToken</Code></Error>');
      return;
    }
    const begin = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const rest = bytes.subarray(begin);
    const isShort = occurs(this.#faults, 'shortDownloads');
    response.writeHead(begin > 0 ? 206 : 200, {
      'content-type': 'application/jsonl',
      ...(!isShort && { 'content-length': rest.length }),
      ...(begin > 0 && { 'content-range': `bytes ${begin}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (occurs(this.#faults, 'brokenDownloads')) {
      response.write(rest.subarray(0, Math.ceil(rest.length / 2)), () => response.destroy());
      return;
    }
    response.end(isShort ? rest.subarray(0, Math.ceil(rest.length / 2)) : rest);
  }
}
