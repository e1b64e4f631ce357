import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Answer, AnswerBody } from './answer.ts';

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

/** How much time a body is worth: one that is sent once, or one that is kept. */
type Effort = 'once' | 'kept';

/** In the order in which we prefer them. */
const encoders = {
  br: (body: string, effort: Effort) =>
    brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: effort === 'once' ? 4 : 11 } }),
  gzip: (body: string, effort: Effort) => deflate(body, { level: effort === 'once' ? 5 : 9 }),
} as const;
type Encoding = keyof typeof encoders;
const encodings = Object.keys(encoders) as Encoding[];

interface Request {
  readonly headers: IncomingHttpHeaders;
}

/** The encoding that we prefer of those that a client names; undefined for none. */
export function encodingFor({ headers }: Request): Encoding | undefined {
  const named = new Set(
    (headers['accept-encoding'] ?? '')
      .split(',')
      .map((each) => each.split(';').map((part) => part.trim().toLowerCase()))
      .filter(([, weight = 'q=1']) => !/^q=0(?:\.0*)?$/.test(weight))
      .map(([name]) => name),
  );
  return encodings.find((each) => named.has(each));
}

async function encode(answer: Answer<AnswerBody>, encoding: Encoding | undefined, effort: Effort) {
  const { body, headers } = answer;
  const varying = { ...headers, vary: 'accept-encoding' };
  if (encoding === undefined || typeof body !== 'string' || body === '')
    return { ...answer, headers: varying };
  return {
    ...answer,
    headers: { ...varying, 'content-encoding': encoding },
    body: await encoders[encoding](body, effort),
  };
}

/** Compresses an answer that is different for each request. docs/decisions/0059-compression.md */
export function compress(
  request: Request,
  answer: Answer<AnswerBody>,
): Promise<Answer<AnswerBody>> {
  return encode(answer, encodingFor(request), 'once');
}

/** Compresses an answer that never changes, on the first request for each encoding. */
export function compressOnce(answer: Answer): (request: Request) => Promise<Answer<AnswerBody>> {
  const kept = new Map<Encoding | undefined, Promise<Answer<AnswerBody>>>();
  return (request) => {
    const encoding = encodingFor(request);
    const encoded = kept.get(encoding) ?? encode(answer, encoding, 'kept');
    kept.set(encoding, encoded);
    return encoded;
  };
}
