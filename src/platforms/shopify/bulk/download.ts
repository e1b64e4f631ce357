import { open, type FileHandle } from 'node:fs/promises';
import { PlatformError } from '../../errors.ts';
import { type Backoff, jittered } from '../../backoff.ts';

/** A bulk query ended without a complete result. Running it again may help. */
export class IncompleteResultError extends Error {
  override readonly name = 'IncompleteResultError';
}

interface Download {
  /** Signed, so it is a secret, and must be requested without the access token. */
  readonly url: string;
  /** Of the shop's API. A stand-in for Shopify keeps results, too. */
  readonly origin: string;
  readonly file: string;
  /** The expected size; undefined if Shopify does not report it. */
  readonly bytes: number | undefined;
  readonly backoff: Backoff;
  readonly signal: AbortSignal | undefined;
  /** The longest time without receiving any data. */
  readonly idleTimeoutMilliseconds?: number;
  /** The largest result that is taken. */
  readonly maxBytes?: number;
}

/** Where Shopify keeps results, and domains of its own. */
const resultHosts = ['storage.googleapis.com', 'shopify.com', 'shopifycdn.com'];

/** A contract takes about 2 kB, so this is a shop with ten million. More must not fill the disk. */
const defaultMaxBytes = 20 * 2 ** 30;

/** Attempts in a row without progress. */
const maxFailures = 5;

/** Answers for a signed URL that has expired. They are valid for at most seven days. */
const expiredStatuses = new Set([400, 401, 403, 404, 410]);

/**
 * Downloads a result to a file that only its owner can read. After a lost connection it continues
 * where it stopped if the server supports ranges, otherwise from the beginning.
 * @throws IncompleteResultError, PlatformError if it is not downloaded from there, or is too large
 */
export async function download(options: Download): Promise<void> {
  const { file, bytes, backoff, signal, maxBytes = defaultMaxBytes } = options;
  refuseUntrusted(options);
  if (bytes !== undefined && bytes > maxBytes) throw tooLarge(maxBytes);
  const handle = await open(file, 'w', 0o600);
  try {
    let received = 0;
    for (let failures = 0; ;) {
      const before = received;
      const progress = await fetchFrom(handle, received, options);
      received = progress.received;
      if (progress.isEnd && (bytes === undefined || received === bytes)) return;
      if (bytes !== undefined && received > bytes) received = 0;
      failures = received > before ? 0 : failures + 1;
      if (failures === maxFailures) {
        throw new IncompleteResultError(
          'the result of the bulk query could not be downloaded completely',
        );
      }
      await backoff.wait(jittered(failures + 1, backoff.random()), signal);
    }
  } finally {
    await handle.close();
  }
}

/** The address comes from an answer, and a server that is told where to connect could be sent anywhere. */
function refuseUntrusted({ url, origin }: Download): void {
  const target = URL.parse(url);
  if (target && target.origin === new URL(origin).origin) return;
  const isTrusted =
    target?.protocol === 'https:' &&
    resultHosts.some((host) => target.hostname === host || target.hostname.endsWith(`.${host}`));
  if (isTrusted) return;
  // The rest of the address is a secret.
  const shown = target ? `${target.protocol}//${target.host}` : 'no address';
  throw new PlatformError(
    'refused',
    `The result of a bulk query is at ${shown}. Results are downloaded by https from ${resultHosts.join(', ')} only.`,
  );
}

function tooLarge(maxBytes: number): PlatformError {
  return new PlatformError(
    'refused',
    `The result of a bulk query is larger than ${maxBytes} bytes, which is the most that is downloaded.`,
  );
}

interface Progress {
  /** Bytes from the beginning of the file. */
  readonly received: number;
  /** Whether the server completed its answer. */
  readonly isEnd: boolean;
}

async function fetchFrom(handle: FileHandle, begin: number, options: Download): Promise<Progress> {
  const { url, bytes = Infinity, signal, idleTimeoutMilliseconds = 60_000 } = options;
  const { maxBytes = defaultMaxBytes } = options;
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(), idleTimeoutMilliseconds);
  let received = begin;
  try {
    const response = await fetch(url, {
      // Compressed, the bytes could not be counted.
      headers: {
        'accept-encoding': 'identity',
        ...(begin > 0 && { range: `bytes=${begin}-` }),
      },
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, idle.signal]) : idle.signal,
    });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new PlatformError(
        'refused',
        'The result of a bulk query redirects to another address, which is not followed.',
      );
    }
    if (expiredStatuses.has(response.status)) {
      throw new IncompleteResultError('the signed URL of the bulk query result has expired');
    }
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      return { received, isEnd: false };
    }
    const isRest = response.headers.get('content-range')?.startsWith(`bytes ${begin}-`) === true;
    if (!isRest) {
      received = 0;
      await handle.truncate(0);
    }
    for await (const chunk of response.body) {
      const end = received + chunk.length;
      if (end > maxBytes) throw tooLarge(maxBytes);
      if (end > bytes) return { received: end, isEnd: false };
      await handle.write(chunk, 0, chunk.length, received);
      received += chunk.length;
      timer.refresh();
    }
    return { received, isEnd: true };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof IncompleteResultError || error instanceof PlatformError) throw error;
    if (isDiskError(error)) throw error;
    return { received, isEnd: false };
  } finally {
    clearTimeout(timer);
  }
}

/** A failed write to the file, which a new connection would not fix. */
function isDiskError(error: unknown): boolean {
  return (
    error instanceof Error && 'syscall' in error && error.syscall === 'write' && 'errno' in error
  );
}
