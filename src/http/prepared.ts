import { hash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { accepts } from './accepts.ts';
import type { Answer } from './answer.ts';

/** The best first. The quality of Brotli is one that takes milliseconds for a page, not a second. */
const codings = {
  br: (body: string) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body: string) => gzipSync(body, { level: 9 }),
} as const;

/**
 * Prepares an answer that is the same for everyone: compresses it once, and answers 304 to a client that has
 * it. For texts without secrets only, because the length of a compressed answer reveals something of its text.
 */
export function prepareAnswer(
  headers: Readonly<Record<string, string>>,
  body: string,
): (request: Pick<FastifyRequest, 'headers'>) => Answer<string | Buffer> {
  const digest = hash('sha256', body).slice(0, 16);
  const vary = [headers['vary'], 'accept-encoding'].filter(Boolean).join(', ');
  // Each coding has its own strong tag, since its bytes differ (RFC 9110 section 8.8.3.3).
  const plain = { body, headers: { ...headers, vary, etag: `"${digest}"` } };
  const coded = Object.entries(codings).map(([coding, compress]) => {
    const etag = `"${digest}-${coding}"`;
    const answer = {
      body: compress(body),
      headers: { ...headers, vary, etag, 'content-encoding': coding },
    };
    return { coding, answer };
  });
  return ({ headers: { 'accept-encoding': encodings, 'if-none-match': known = '' } }) => {
    const { answer } = coded.find(({ coding }) => accepts(encodings, coding)) ?? { answer: plain };
    const { etag } = answer.headers;
    // Proxies weaken tags, and only the text counts here.
    const isKnown = known.split(',').some((tag) => [etag, `W/${etag}`, '*'].includes(tag.trim()));
    if (!isKnown) return { status: 200, ...answer };
    const { 'cache-control': cacheControl } = headers;
    return {
      status: 304,
      headers: { vary, etag, ...(cacheControl && { 'cache-control': cacheControl }) },
      body: '',
    };
  };
}
