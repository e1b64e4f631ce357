import { open, type FileHandle } from 'node:fs/promises';
import { NotWhole } from './bulk-operation.ts';
import { type Pauses, jittered } from '../../pauses.ts';

interface Download {
  /** Signed: it is a secret, and the access token has no business there. */
  readonly url: string;
  readonly file: string;
  /** How many bytes there must be; undefined where Shopify does not say. */
  readonly bytes: number | undefined;
  readonly pauses: Pauses;
  readonly signal: AbortSignal | undefined;
  /** How long nothing may come. */
  readonly silenceMilliseconds?: number;
}

/** In a row that bring nothing new. */
const attempts = 5;

/** The signed URL has expired; they last for seven days at most. */
const expired = new Set([400, 401, 403, 404, 410]);

/**
 * Brings a result into a file, which only its owner can read. Where the connection breaks it goes on
 * behind the last byte, if the other side can, else from the beginning.
 * @throws NotWhole
 */
export async function download(options: Download): Promise<void> {
  const { file, bytes, pauses, signal } = options;
  const handle = await open(file, 'w', 0o600);
  try {
    let have = 0;
    for (let failures = 0; ;) {
      const before = have;
      const outcome = await fetchFrom(handle, have, options);
      have = outcome.have;
      if (outcome.isEnd && (bytes === undefined || have === bytes)) return;
      if (bytes !== undefined && have > bytes) have = 0;
      failures = have > before ? 0 : failures + 1;
      if (failures === attempts) {
        throw new NotWhole('the result of the bulk query could not be downloaded whole');
      }
      await pauses.wait(jittered(failures + 1, pauses.random()), signal);
    }
  } finally {
    await handle.close();
  }
}

interface Fetched {
  /** Bytes from the beginning of the file. */
  readonly have: number;
  /** Whether the other side said that this was all. */
  readonly isEnd: boolean;
}

async function fetchFrom(handle: FileHandle, begin: number, options: Download): Promise<Fetched> {
  const { url, signal, silenceMilliseconds = 60_000 } = options;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), silenceMilliseconds);
  let have = begin;
  try {
    const response = await fetch(url, {
      // Packed on the way, bytes could not be counted.
      headers: {
        'accept-encoding': 'identity',
        ...(begin > 0 && { range: `bytes=${begin}-` }),
      },
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    if (expired.has(response.status)) {
      throw new NotWhole('the address of the result of the bulk query has expired');
    }
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      return { have, isEnd: false };
    }
    const isRest = response.headers.get('content-range')?.startsWith(`bytes ${begin}-`) === true;
    if (!isRest) {
      have = 0;
      await handle.truncate(0);
    }
    for await (const chunk of response.body) {
      await handle.write(chunk, 0, chunk.length, have);
      have += chunk.length;
      timer.refresh();
    }
    return { have, isEnd: true };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NotWhole) throw error;
    if (isOfDisk(error)) throw error;
    return { have, isEnd: false };
  } finally {
    clearTimeout(timer);
  }
}

/** What the disk says is no fault of the connection. */
function isOfDisk(error: unknown): boolean {
  return (
    error instanceof Error && 'syscall' in error && error.syscall === 'write' && 'errno' in error
  );
}
