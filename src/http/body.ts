import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { type Answer, refuse } from './answer.ts';

interface BodyRules {
  /** Undefined if any is taken. */
  readonly contentType: string | undefined;
  readonly maxBytes: number;
  /** How long it may take to arrive, if that is less than for all requests. */
  readonly arrivalMilliseconds?: number;
  /** Called before the body takes this much memory in all; returning an answer stops reading. */
  readonly hold?: (bytes: number) => Answer | undefined;
}

/** What the first chunk of a body takes, however small it is. */
const minHeldBytes = 1024;

const jsonBody: BodyRules = { contentType: 'application/json', maxBytes: 1024 * 1024 };

/** So many chunks are read in one turn of the event loop. A connection is otherwise read on while it brings any. */
const maxChunksATurn = 4096;

/** The body's bytes, or the response that refuses it. */
export type Body = { readonly bytes: Buffer } | { readonly refusal: Answer };

/**
 * Reads the body of an authenticated request; until then, none of it is received. By default the body
 * must be JSON of at most 1 MiB.
 */
export function readBody(
  request: FastifyRequest,
  { contentType, maxBytes, arrivalMilliseconds, hold }: BodyRules = jsonBody,
): Promise<Body> | Body {
  const { raw } = request;
  const type = raw.headers['content-type'];
  if (contentType !== undefined && type !== contentType && mediaType(type) !== contentType) {
    return { refusal: refuse(415, `The content type must be ${contentType}.`) };
  }
  const announced = Number(raw.headers['content-length']);
  if (announced > maxBytes) return { refusal: refuseLarge(maxBytes) };
  // The client may have disconnected while its key was looked up; no event would follow.
  if (raw.destroyed) return { refusal: incomplete() };

  // Most bodies arrive with their headers. Waiting for the stream's events would cost more than reading it.
  const arrived: Buffer | null = raw.read();
  if (arrived?.length === announced) return { bytes: arrived };
  if (arrived) raw.unshift(arrived);

  const most = Number.isNaN(announced) ? maxBytes : announced;
  return new Promise((resolve) => {
    // One buffer that grows: a client may send one byte at a time, and each chunk would take hundreds.
    let memory = Buffer.alloc(0);
    let length = 0;
    let chunks = 0;
    const onData = (chunk: Buffer) => {
      if (++chunks % maxChunksATurn === 0) pauseForATurn(raw);
      const needed = length + chunk.length;
      if (needed > maxBytes) return stop(refuseLarge(maxBytes));
      if (needed > memory.length) {
        const size = Math.min(most, Math.max(needed, 2 * memory.length, minHeldBytes));
        const refusal = hold?.(size);
        if (refusal) return stop(refusal);
        // Not from the pool, whose other parts it would keep in memory.
        const larger = Buffer.allocUnsafeSlow(size);
        memory.copy(larger, 0, 0, length);
        memory = larger;
      }
      chunk.copy(memory, length);
      length = needed;
    };
    const stop = (refusal: Answer) => {
      // Discards what still arrives, and releases what came before.
      raw.off('data', onData);
      raw.resume();
      memory = Buffer.alloc(0);
      resolve({ refusal });
    };
    // Not at once: what has arrived while the process was busy is read first.
    const onDeadline = () =>
      setImmediate(() => stop(refuseSlow(arrivalMilliseconds as number))).unref();
    const deadline =
      arrivalMilliseconds !== undefined && setTimeout(onDeadline, arrivalMilliseconds).unref();
    raw.on('data', onData);
    // Also comes after the end, and after an error.
    raw.once('close', () => {
      if (deadline) clearTimeout(deadline);
      resolve(
        raw.readableEnded ? { bytes: memory.subarray(0, length) } : { refusal: incomplete() },
      );
    });
  });
}

/** The request alone would go on filling its buffer, and the connection alone would be read on by the request. */
function pauseForATurn(raw: IncomingMessage): void {
  raw.pause();
  raw.socket.pause();
  setImmediate(() => {
    raw.socket.resume();
    raw.resume();
  });
}

function refuseLarge(maxBytes: number): Answer {
  // The rest of the body is not read, so the connection cannot be reused.
  return refuse(413, `The request body is larger than ${maxBytes} bytes.`, { connection: 'close' });
}

function refuseSlow(milliseconds: number): Answer {
  const text = `The request body did not arrive within ${milliseconds / 1000} seconds; send less at once.`;
  return refuse(408, text, { connection: 'close' });
}

function incomplete(): Answer {
  return refuse(400, 'The request body ended too early.');
}

function mediaType(header: string | undefined): string | undefined {
  return header?.split(';', 1)[0]?.trim().toLowerCase();
}
