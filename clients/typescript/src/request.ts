import {
  RateLimitError,
  RetentionError,
  TimeoutError,
  UnavailableError,
  errorOf,
} from './errors.ts';
import { faultOf, isObject } from './shape.ts';
import { shapes } from './shapes.ts';
import { version } from './version.ts';

/** A request that is about to be sent; a hook may add headers to it. */
export interface RequestInfo {
  readonly operation: string;
  readonly url: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** For example for `traceparent`. */
  readonly headers: Headers;
}

/** What became of a request. */
export interface ResponseInfo {
  /** The object that `onRequest` got. */
  readonly request: RequestInfo;
  /** Undefined if there was no complete answer. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly durationMs: number;
  /** What will be thrown, unless there is a retry. */
  readonly error: RetentionError | undefined;
  /** How long it waits before the next attempt; undefined if there is none. */
  readonly retryInMs: number | undefined;
}

/**
 * For logs, metrics and traces. What hooks throw is thrown to the caller. They are synchronous: if one returns a
 * promise, the call throws a TypeError.
 */
export interface Hooks {
  onRequest?(request: RequestInfo): void;
  onResponse?(response: ResponseInfo): void;
}

export interface Sender {
  readonly fetch: typeof fetch;
  readonly baseUrl: string;
  readonly key: string;
  readonly timeoutMs: number;
  /** Infinity if there is none. */
  readonly deadlineMs: number;
  /** Of `entitled`. */
  readonly entitledDeadlineMs: number;
  readonly maxRetries: number;
  readonly hooks: Hooks;
}

/** How long a call goes on at most. */
export interface Limits {
  readonly signal?: AbortSignal | undefined;
  /** By `performance.now()`; Infinity if there is no such time. */
  readonly endsAt: number;
}

/** What to get. */
export interface Call extends Limits {
  readonly operation: keyof typeof shapes;
  /** After the service's root, with the query. */
  readonly path: string;
  readonly retries?: boolean;
}

export interface Answered {
  readonly body: Readonly<Record<string, unknown>>;
  /** When the attempt that was answered was sent, epoch milliseconds. */
  readonly askedAt: number;
}

/** The longest `Retry-After` that is waited for. */
const maxWaitMs = 60_000;
const firstBackoffMs = 250;
const maxBackoffMs = 8_000;

/**
 * Gets a path, again after failures that may pass: every operation is safe to repeat.
 * @throws RetentionError, or the signal's reason
 */
export async function send(sender: Sender, call: Call): Promise<Answered> {
  const { operation, path, signal, endsAt, retries = true } = call;
  const url = sender.baseUrl + path;
  for (let attempt = 1; ; attempt += 1) {
    const headers = new Headers({
      accept: 'application/json',
      authorization: `Bearer ${sender.key}`,
      'user-agent': `retention-typescript/${version}`,
    });
    const request = { operation, url, attempt, headers };
    refusePromise(sender.hooks.onRequest?.(request));
    const askedAt = Date.now();
    const startedAt = performance.now();
    const { body, status, requestId, error } = await attemptOnce(sender, request, call);
    const mayRetry = retries && attempt <= sender.maxRetries;
    const retryInMs = error && mayRetry ? waitBefore(error, attempt, endsAt) : undefined;
    const durationMs = performance.now() - startedAt;
    const about = { request, status, requestId, durationMs, error, retryInMs };
    refusePromise(sender.hooks.onResponse?.(about));
    if (body) return { body, askedAt };
    if (retryInMs === undefined) throw error;
    await sleep(retryInMs, signal);
  }
}

/** TypeScript lets an asynchronous function be a hook, and what it throws would end the process. */
function refusePromise(returned: unknown): void {
  if (!(returned instanceof Promise)) return;
  returned.catch(() => {});
  throw new TypeError('A hook returned a promise. Hooks must be synchronous.');
}

/**
 * Waits for a promise, but no longer than the limits allow.
 * @throws the signal's reason, TimeoutError
 */
export async function within<T>(promise: Promise<T>, { signal, endsAt }: Limits): Promise<T> {
  const done = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { signal: done.signal });
    if (endsAt === Infinity) return;
    const give = () => reject(new TimeoutError('getEntitlements: No answer before the deadline.'));
    timer = setTimeout(give, Math.max(endsAt - performance.now(), 0));
  });
  try {
    return await Promise.race([promise, ended]);
  } finally {
    done.abort();
    clearTimeout(timer);
  }
}

interface Result {
  readonly status?: number;
  readonly requestId?: string | undefined;
  readonly body?: Answered['body'];
  readonly error?: RetentionError;
}

/** @throws only the signal's reason */
async function attemptOnce(
  { fetch, timeoutMs }: Sender,
  { url, headers }: RequestInfo,
  { operation, signal, endsAt }: Call,
): Promise<Result> {
  signal?.throwIfAborted();
  const limitMs = Math.max(Math.min(timeoutMs, Math.ceil(endsAt - performance.now())), 1);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const timer = setTimeout(stop, limitMs);
  signal?.addEventListener('abort', stop);
  let response: Response;
  let text: string;
  try {
    // Not all edge runtimes have "error". Frameworks that cache what is fetched must not do so here.
    const options = { redirect: 'manual', cache: 'no-store' } as const;
    response = await fetch(url, { headers, ...options, signal: stopping.signal });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    return {
      error: stopping.signal.aborted
        ? new TimeoutError(`${operation}: ${unanswered(limitMs < timeoutMs, limitMs)}`, { cause })
        : new UnavailableError(
            `${operation}: The service could not be reached: ${describe(cause)}`,
            {
              cause,
            },
          ),
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
  return judge(response, parse(text), operation);
}

function unanswered(isLast: boolean, limitMs: number): string {
  return isLast ? 'No answer before the deadline.' : `No complete answer within ${limitMs} ms.`;
}

function judge(response: Response, body: unknown, operation: Call['operation']): Result {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'));
  const details = { status, requestId, retryAfterSeconds };
  const message = (text: string) =>
    `${operation}: ${text}${requestId === undefined ? '' : ` (request ${requestId})`}`;
  if (response.ok) {
    const fault = faultOf(status, body, shapes[operation]);
    if (fault === undefined) return { status, requestId, body: body as Answered['body'] };
    // An answer that was cut off, or from something else that listens at this address.
    const text = `The answer is not one of this service: ${fault}.`;
    return { status, requestId, error: new UnavailableError(message(text), details) };
  }
  const text =
    isObject(body) && typeof body['message'] === 'string' ? body['message'] : fallback(response);
  return { status, requestId, error: errorOf(message(text), details) };
}

function fallback({ status, headers }: Response): string {
  // Some edge runtimes give redirections the status 0, and no headers.
  const isRedirection = status >= 300 && status < 400 && headers.has('location');
  return status === 0 || isRedirection
    ? 'The service redirects to another address. Set baseUrl to that one: a key is not sent on.'
    : `The service answered ${status}.`;
}

/** Milliseconds until the next attempt; undefined if there should be none. */
function waitBefore(error: RetentionError, attempt: number, endsAt: number): number | undefined {
  if (!(error instanceof UnavailableError || error instanceof RateLimitError)) return undefined;
  const requestedMs = (error.retryAfterSeconds ?? 0) * 1000;
  const backoffMs =
    error.retryAfterSeconds === undefined
      ? Math.min(firstBackoffMs * 2 ** (attempt - 1), maxBackoffMs)
      : firstBackoffMs;
  // Many clients that were refused together should not come back together.
  const waitMs = requestedMs + Math.random() * backoffMs;
  const isTooLong = requestedMs > maxWaitMs || performance.now() + waitMs >= endsAt;
  return isTooLong ? undefined : waitMs;
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await within(slept, { signal, endsAt: Infinity });
  } finally {
    clearTimeout(timer);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whole seconds; proxies may send a date. Undefined for anything else. */
function parseRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(Math.ceil((at - Date.now()) / 1000), 0);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
