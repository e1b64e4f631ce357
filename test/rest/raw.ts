import { connect } from 'node:net';
import { checkAnswer } from '../support/openapi-check.ts';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case, in the order of the response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends bytes unchanged; HTTP clients would correct or refuse much of what a server must
 * withstand.
 * @param timeoutMilliseconds shorter for a request that may be incomplete and so get no response
 * @returns the first response, if any
 */
export async function exchange(
  baseUrl: string,
  bytes: string | Uint8Array,
  timeoutMilliseconds = 120_000,
): Promise<RawAnswer | undefined> {
  const { hostname, port } = new URL(baseUrl);
  const isHead = Buffer.from(bytes).subarray(0, 5).toString('latin1') === 'HEAD ';
  const socket = connect(Number(port), hostname);
  try {
    return await new Promise((resolve) => {
      let received = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const answer = parse(received, isHead);
        if (answer) resolve(answer);
      });
      // A server that has responded may reset the connection while we are still sending.
      socket.on('error', () => {});
      socket.on('close', () => resolve(undefined));
      socket.setTimeout(timeoutMilliseconds, () => resolve(undefined));
      socket.write(bytes);
    });
  } finally {
    socket.destroy();
  }
}

/** @returns undefined while the response is incomplete */
function parse(received: Buffer, isHead: boolean): RawAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received
    .subarray(0, headEnd)
    .toString('latin1')
    .split('\r\n');
  const status = statusLine.match(/^HTTP\/1\.1 (\d{3}) /)?.[1];
  if (status === undefined) throw new Error(`Not HTTP: ${received.toString('latin1')}`);
  const headers = Object.fromEntries(
    lines.map((each) => {
      const colon = each.indexOf(':');
      return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()];
    }),
  );
  const body = received.subarray(headEnd + 4);
  const length = isHead ? 0 : Number(headers['content-length'] ?? 0);
  if (body.length < length) return undefined;
  return { status: Number(status), headers, body: body.subarray(0, length).toString() };
}

/**
 * Sends one request with its path and headers unchanged, and checks the response against the contract.
 * @param headers lines such as `accept: text/html`
 */
export async function request(
  baseUrl: string,
  method: string,
  path: string,
  headers: readonly string[] = [],
  body = '',
): Promise<RawAnswer> {
  const head = [`${method} ${path} HTTP/1.1`, 'host: localhost', 'connection: close', ...headers];
  const answer = await exchange(baseUrl, `${head.join('\r\n')}\r\n\r\n${body}`);
  if (!answer) throw new Error(`${method} ${path} was not answered`);
  checkRaw(path, answer);
  return answer;
}

/** Checks a response against the contract, unless it has no body, as for HEAD. */
export function checkRaw(path: string, { status, headers, body }: RawAnswer): void {
  if (body !== '')
    checkAnswer(path.split('?', 1)[0] ?? '', status, headers['content-type'] ?? '', body);
}

export function bearer(key: string): string {
  return `authorization: Bearer ${key}`;
}
