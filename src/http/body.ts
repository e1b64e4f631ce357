import type { FastifyRequest } from 'fastify';
import { type Answer, refuse } from './answer.ts';

interface BodyRules {
  /** Undefined if any is taken. */
  readonly contentType: string | undefined;
  readonly maxBytes: number;
  /** Called with each chunk as it arrives; returning an answer stops reading. */
  readonly receive?: (chunk: Buffer) => Answer | undefined;
}

const jsonBody: BodyRules = { contentType: 'application/json', maxBytes: 1024 * 1024 };

/** The body's bytes, or the response that refuses it. */
export type Body = { readonly bytes: Buffer } | { readonly refusal: Answer };

/**
 * Reads the body of an authenticated request; until then, none of it is received. By default the body
 * must be JSON of at most 1 MiB.
 */
export function readBody(
  request: FastifyRequest,
  { contentType, maxBytes, receive }: BodyRules = jsonBody,
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
  if (arrived?.length === announced) {
    const refusal = receive?.(arrived);
    return refusal ? { refusal } : { bytes: arrived };
  }
  if (arrived) raw.unshift(arrived);

  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      const refusal = length > maxBytes ? refuseLarge(maxBytes) : receive?.(chunk);
      if (!refusal) return void chunks.push(chunk);
      // Discards what still arrives, and releases what came before.
      raw.off('data', onData);
      raw.resume();
      chunks.length = 0;
      resolve({ refusal });
    };
    raw.on('data', onData);
    // Also comes after the end, and after an error.
    raw.once('close', () =>
      resolve(raw.readableEnded ? { bytes: Buffer.concat(chunks) } : { refusal: incomplete() }),
    );
  });
}

function refuseLarge(maxBytes: number): Answer {
  // The rest of the body is not read, so the connection cannot be reused.
  return refuse(413, `The request body is larger than ${maxBytes} bytes.`, { connection: 'close' });
}

function incomplete(): Answer {
  return refuse(400, 'The request body ended too early.');
}

function mediaType(header: string | undefined): string | undefined {
  return header?.split(';', 1)[0]?.trim().toLowerCase();
}
