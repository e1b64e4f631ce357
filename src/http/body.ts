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
  const isOther = mediaType(request.headers['content-type']) !== contentType;
  if (contentType !== undefined && isOther) {
    return { refusal: refuse(415, `The content type must be ${contentType}.`) };
  }
  const tooLarge = () => refuseLarge(maxBytes);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return { refusal: tooLarge() };
  // The client may have disconnected while its key was looked up; no event would follow.
  if (request.raw.destroyed) return { refusal: incomplete() };

  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const refuseIt = (refusal: Answer) => {
      // Discards what still arrives, and releases what came before.
      request.raw.off('data', onData);
      request.raw.resume();
      chunks.length = 0;
      resolve({ refusal });
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      const refusal = length > maxBytes ? tooLarge() : receive?.(chunk);
      if (refusal) refuseIt(refusal);
      else chunks.push(chunk);
    };
    request.raw.on('data', onData);
    request.raw.once('end', () => {
      // Every request is closed at its end, too.
      request.raw.off('close', onBroken);
      resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) });
    });
    const onBroken = () => refuseIt(incomplete());
    request.raw.once('error', onBroken);
    request.raw.once('close', onBroken);
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
