import { request } from 'node:http';
import { cut } from './body.ts';

export interface HttpRequest {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  /** Names and values in turn, as they are sent. */
  readonly headers?: readonly string[];
  /** A list is sent in chunks. */
  readonly body?: string | Buffer | readonly string[];
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Sends one request on a connection of its own, and reads the answer to its end. */
export function sendHttp(
  baseUrl: string,
  { path, method = 'GET', headers = [], body = '' }: HttpRequest,
): Promise<Answered> {
  const { host } = new URL(baseUrl);
  const framing =
    typeof body === 'string' || Buffer.isBuffer(body)
      ? ['content-length', String(Buffer.byteLength(body))]
      : ['transfer-encoding', 'chunked'];
  return new Promise((resolve) => {
    const sent = request(baseUrl + path, {
      agent: false,
      method,
      headers: [...headers, 'host', host, 'connection', 'close', ...framing],
    });
    sent.once('response', (response) => {
      const status = response.statusCode ?? cut;
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      const end = () => resolve({ status, text: Buffer.concat(parts).toString() });
      response.once('end', end).on('error', end);
    });
    // A server that refuses a body may cut the connection while it is still being sent.
    sent.on('error', () => resolve({ status: cut, text: '' }));
    if (typeof body === 'string' || Buffer.isBuffer(body)) sent.end(body);
    else {
      for (const chunk of body) sent.write(chunk);
      sent.end();
    }
  });
}
