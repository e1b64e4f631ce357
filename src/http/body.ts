import type { FastifyRequest } from 'fastify';
import { type Answer, refuse } from './answer.ts';

interface BodyRules {
  readonly contentType: string;
  readonly maxBytes: number;
  /** Sees each part as it arrives; an answer from it ends the reading. */
  readonly receive?: (part: Buffer) => Answer | undefined;
}

const jsonBody: BodyRules = { contentType: 'application/json', maxBytes: 1024 * 1024 };

/** A body as bytes, or why it is not read. */
export type Body = { readonly bytes: Buffer } | { readonly refusal: Answer };

/**
 * Reads the body of a request that was let in; before that, nothing of it is received. No more
 * of it is kept than the rules say, 1 MiB of JSON if nothing is said.
 */
export function readBody(
  request: FastifyRequest,
  { contentType, maxBytes, receive }: BodyRules = jsonBody,
): Promise<Body> | Body {
  if (mediaType(request.headers['content-type']) !== contentType) {
    return { refusal: refuse(415, `The content type must be ${contentType}.`) };
  }
  const tooLarge = () => refuseLarge(maxBytes);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return { refusal: tooLarge() };
  // The client may have gone while its key was looked up; then no event would ever come.
  if (request.raw.destroyed) return { refusal: brokenOff() };

  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (body: Body) => {
      // What still arrives is dropped, and no listener holds on to what came before.
      request.raw.off('data', take);
      request.raw.resume();
      chunks.length = 0;
      resolve(body);
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      const refusal = length > maxBytes ? tooLarge() : receive?.(chunk);
      if (refusal) settle({ refusal });
      else chunks.push(chunk);
    };
    request.raw.on('data', take);
    request.raw.once('end', () => {
      settle({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) });
    });
    const broken = () => settle({ refusal: brokenOff() });
    request.raw.once('error', broken);
    request.raw.once('close', broken);
  });
}

function refuseLarge(maxBytes: number): Answer {
  // The rest of the body is not worth receiving, and without it the connection is of no use.
  return refuse(413, `The request body is larger than ${maxBytes} bytes.`, { connection: 'close' });
}

function brokenOff(): Answer {
  return refuse(400, 'The request body ended too early.');
}

function mediaType(header: string | undefined): string | undefined {
  return header?.split(';', 1)[0]?.trim().toLowerCase();
}
