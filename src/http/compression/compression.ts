import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Answer, AnswerBody } from '../answer.ts';
import { accepts } from './accepts.ts';

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
const encoders: Readonly<Record<Encoding, (body: string) => Promise<Buffer>>> = {
  br: (body) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => deflate(body, { level: 5 }),
};

/** Compresses an answer that is different for each request. docs/decisions/0023-pages.md */
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
    body: await encoders[encoding](body),
  };
}
