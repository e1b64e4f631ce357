import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, brotliCompressSync, gzipSync } from 'node:zlib';
import { hash } from 'node:crypto';
import type { Answer, AnswerBody } from './answer.ts';

/** In the order in which we prefer them. */
const encodings = ['br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

export interface Asked {
  readonly headers: IncomingHttpHeaders;
}

/** The encoding that we prefer of those that a client names; undefined for none. */
export function encodingFor({ headers }: Asked): Encoding | undefined {
  return encodings.find((each) => accepts(headers['accept-encoding'], each));
}

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

/** Fast, for what is sent once. */
const quickEncoders: Readonly<Record<Encoding, (body: string) => Promise<Buffer>>> = {
  br: (body) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => deflate(body, { level: 5 }),
};

/** Compresses an answer that is different for each request. docs/decisions/0022-pages.md */
export async function compress(
  asked: Asked,
  answer: Answer<AnswerBody>,
): Promise<Answer<AnswerBody>> {
  const { body } = answer;
  const encoding = encodingFor(asked);
  const headers = { ...answer.headers, vary: 'accept-encoding' };
  if (encoding === undefined || typeof body !== 'string' || body === '') {
    return { ...answer, headers };
  }
  return {
    ...answer,
    headers: { ...headers, 'content-encoding': encoding },
    body: await quickEncoders[encoding](body),
  };
}

/** Whether a header that lists what a client accepts has this name, unless with quality 0. */
export function accepts(header: string | undefined, name: string): boolean {
  return qualityOf(header, name) > 0;
}

/** Whether a client wants a page rather than JSON: browsers name HTML, programs name JSON or nothing. */
export function prefersPage(header: string | undefined): boolean {
  return qualityOf(header, 'text/html') > qualityOf(header, 'application/json');
}

/** The quality of a name in a list, 1 by default; 0 if it is not listed. */
function qualityOf(header: string | undefined, name: string): number {
  const qualities = (header ?? '').split(',').map((item) => {
    const [listed, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (listed !== name) return 0;
    const [quality = '1'] = parameters.flatMap((each) => /^q=([\d.]+)$/.exec(each)?.[1] ?? []);
    return Number(quality);
  });
  return Math.max(...qualities);
}

/** Small, for what is sent often; the quality of Brotli is one that takes milliseconds for a page, not a second. */
const thoroughEncoders: Readonly<Record<Encoding, (body: string) => Buffer>> = {
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
          body: thoroughEncoders[encoding](body),
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
