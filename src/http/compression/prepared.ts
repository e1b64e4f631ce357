import { hash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Answer } from '../answer.ts';
import { type Asked, type Encoding, encodingFor } from './compression.ts';

/** Small, for what is sent often; the quality of Brotli is one that takes milliseconds for a page, not a second. */
const encoders: Readonly<Record<Encoding, (body: string) => Buffer>> = {
  br: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body) => gzipSync(body, { level: 9 }),
};

/**
 * Prepares an answer that is the same for everyone: compresses it once for each encoding that is asked for, and
 * answers 304 to a client that has it. For texts without secrets only, because the length of a compressed answer
 * reveals something of its text.
 */
export function prepareAnswer(
  headers: Readonly<Record<string, string>>,
  body: string,
): (asked: Asked) => Answer<string | Buffer> {
  const digest = hash('sha256', body).slice(0, 16);
  const vary = [headers['vary'], 'accept-encoding'].filter(Boolean).join(', ');
  const prepare = (encoding: Encoding | undefined) =>
    encoding === undefined
      ? { body, headers: { ...headers, vary, etag: `"${digest}"` } }
      : {
          body: encoders[encoding](body),
          // Each encoding has its own strong tag, since its bytes differ (RFC 9110 section 8.8.3.3).
          headers: {
            ...headers,
            vary,
            etag: `"${digest}-${encoding}"`,
            'content-encoding': encoding,
          },
        };
  const prepared = new Map<Encoding | undefined, ReturnType<typeof prepare>>();
  return (asked) => {
    const encoding = encodingFor(asked);
    const answer = prepared.get(encoding) ?? prepare(encoding);
    prepared.set(encoding, answer);
    const { etag } = answer.headers;
    const { 'if-none-match': known = '' } = asked.headers;
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
