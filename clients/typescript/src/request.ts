import {
  RateLimitError,
  RetentionError,
  TimeoutError,
  UnavailableError,
  errorOf,
} from './errors.ts';

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

/** For logs, metrics and traces. What hooks throw is thrown to the caller. */
export interface Hooks {
  onRequest?(request: RequestInfo): void;
  onResponse?(response: ResponseInfo): void;
}

export interface Sender {
  readonly fetch: typeof fetch;
  readonly baseUrl: string;
  readonly key: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly hooks: Hooks;
}

/** What to get. */
export interface Call {
  readonly operation: string;
  /** After the service's root, with the query. */
  readonly path: string;
  /** The field of the answer without which it is none. */
  readonly field: string;
  readonly signal?: AbortSignal | undefined;
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
  const { operation, path, signal, retries = true } = call;
  const url = sender.baseUrl + path;
  for (let attempt = 1; ; attempt += 1) {
    const headers = new Headers({
      accept: 'application/json',
      authorization: `Bearer ${sender.key}`,
    });
    const request = { operation, url, attempt, headers };
    sender.hooks.onRequest?.(request);
    const askedAt = Date.now();
    const startedAt = performance.now();
    const { body, status, requestId, error } = await attemptOnce(sender, request, call);
    const retryInMs =
      error && retries && attempt <= sender.maxRetries ? waitBefore(error, attempt) : undefined;
    const durationMs = performance.now() - startedAt;
    sender.hooks.onResponse?.({ request, status, requestId, durationMs, error, retryInMs });
    if (body) return { body, askedAt };
    if (retryInMs === undefined) throw error;
    await sleep(retryInMs, signal);
  }
}

/** Waits for a promise, or until the signal is aborted. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return promise;
  const done = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { signal: done.signal });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    done.abort();
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
  { field, signal }: Call,
): Promise<Result> {
  signal?.throwIfAborted();
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const timer = setTimeout(stop, timeoutMs);
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
        ? new TimeoutError(`No complete answer within ${timeoutMs} ms.`, { cause })
        : new UnavailableError(`The service could not be reached: ${describe(cause)}`, { cause }),
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
  return judge(response, parse(text), field);
}

function judge({ status, ok, headers }: Response, body: unknown, field: string): Result {
  const requestId = headers.get('x-request-id') ?? undefined;
  if (ok && isObject(body) && isObject(body[field])) return { status, requestId, body };
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'));
  const details = { status, requestId, retryAfterSeconds };
  if (ok) {
    // An answer that was cut off, or from something else that listens at this address.
    const error = new UnavailableError(`The answer is not JSON with "${field}".`, details);
    return { status, requestId, error };
  }
  const message =
    isObject(body) && typeof body['message'] === 'string' ? body['message'] : fallback(status);
  return { status, requestId, error: errorOf(message, details) };
}

function fallback(status: number): string {
  // Browsers and some edge runtimes give redirections the status 0.
  return status === 0 || (status >= 300 && status < 400)
    ? 'The service redirects to another address. Set baseUrl to that one: a key is not sent on.'
    : `The service answered ${status}.`;
}

/** Milliseconds until the next attempt; undefined if there should be none. */
function waitBefore(error: RetentionError, attempt: number): number | undefined {
  if (!(error instanceof UnavailableError || error instanceof RateLimitError)) return undefined;
  const backoff = Math.min(firstBackoffMs * 2 ** (attempt - 1), maxBackoffMs);
  if (error.retryAfterSeconds === undefined) return Math.random() * backoff;
  const requested = error.retryAfterSeconds * 1000;
  // Many clients that were refused together should not come back together.
  return requested > maxWaitMs ? undefined : requested + Math.random() * firstBackoffMs;
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await unlessAborted(slept, signal);
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

/** Whether it is an object or a list. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Whole seconds; proxies may send a date. */
function parseRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(Math.ceil((at - Date.now()) / 1000), 0);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
