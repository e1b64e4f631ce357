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
export interface ResponseInfo extends Omit<RequestInfo, 'headers'> {
  /** Undefined if there was no complete answer. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly durationMs: number;
  /** What will be thrown, or is tried again. */
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

/** A wait that the service asks for is accepted up to this; a longer one is thrown. */
const maxWaitMs = 60_000;
const firstWaitMs = 250;
const maxBackoffMs = 8_000;

/**
 * Gets a path, again after failures that may pass: all operations may be repeated.
 * @throws RetentionError, or the signal's reason
 */
export async function send(
  sender: Sender,
  operation: string,
  path: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const url = sender.baseUrl + path;
  for (let attempt = 1; ; attempt += 1) {
    const headers = new Headers({
      accept: 'application/json',
      authorization: `Bearer ${sender.key}`,
    });
    sender.hooks.onRequest?.({ operation, url, attempt, headers });
    const startedAt = performance.now();
    const result = await attemptOnce(sender, url, headers, signal);
    const { error } = result;
    const retryInMs =
      error && attempt <= sender.maxRetries ? waitBefore(error, attempt) : undefined;
    sender.hooks.onResponse?.({
      operation,
      url,
      attempt,
      status: result.status,
      requestId: result.requestId,
      durationMs: performance.now() - startedAt,
      error,
      retryInMs,
    });
    if (!error) return result.body;
    if (retryInMs === undefined) throw error;
    await sleep(retryInMs, signal);
  }
}

interface Result {
  readonly status?: number;
  readonly requestId?: string | undefined;
  readonly body?: unknown;
  readonly error?: RetentionError;
}

/** @throws only the signal's reason */
async function attemptOnce(
  { fetch, timeoutMs }: Sender,
  url: string,
  headers: Headers,
  signal: AbortSignal | undefined,
): Promise<Result> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      headers,
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    return {
      error: timeout.aborted
        ? new TimeoutError(`No complete answer within ${timeoutMs} ms.`, { cause })
        : new UnavailableError(`The service could not be reached: ${describe(cause)}`, { cause }),
    };
  }
  const { status } = response;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const body = parse(text);
  if (response.ok && isObject(body)) return { status, requestId, body };
  const retryAfterSeconds = parseRetryAfter(response.headers.get('retry-after'));
  const details = { status, requestId, retryAfterSeconds };
  if (response.ok) {
    // An answer that was cut off, or of something else that listens at this address.
    return { status, requestId, error: new UnavailableError('The answer is not JSON.', details) };
  }
  const message =
    isObject(body) && typeof body['message'] === 'string'
      ? body['message']
      : `The service answered ${status}.`;
  return { status, requestId, error: errorOf(message, details) };
}

/** Milliseconds until the next attempt; undefined if there should be none. */
function waitBefore(error: RetentionError, attempt: number): number | undefined {
  if (!(error instanceof UnavailableError || error instanceof RateLimitError)) return undefined;
  const backoff = Math.min(firstWaitMs * 2 ** (attempt - 1), maxBackoffMs);
  if (error.retryAfterSeconds === undefined) return Math.random() * backoff;
  const asked = error.retryAfterSeconds * 1000;
  // Many clients that were refused together should not come back together.
  return asked > maxWaitMs ? undefined : asked + Math.random() * firstWaitMs;
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
