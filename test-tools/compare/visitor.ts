import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { publicUrl } from './version.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface Message {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A client of one server that keeps cookies, as a browser does. */
export class Visitor {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #cookies = new Map<string, string>();

  constructor(port: number) {
    this.#port = port;
  }

  /** A client of another server with the same cookies. */
  at(port: number): Visitor {
    const other = new Visitor(port);
    for (const [name, value] of this.#cookies) other.#cookies.set(name, value);
    return other;
  }

  async send(path: string, { method = 'GET', headers = {}, body }: Message = {}): Promise<Answer> {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const sent = request({
      port: this.#port,
      host: '127.0.0.1',
      agent: this.#agent,
      path,
      method,
      headers: { host: new URL(publicUrl).host, ...(cookie && { cookie }), ...headers },
    }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const { statusCode: status = 0 } = response;
    return { status, headers: response.headers, body: await buffer(response) };
  }

  /** Asks for a page as a browser does. */
  open(path: string, language = 'en-US'): Promise<Answer> {
    return this.send(path, {
      headers: { accept: 'text/html,*/*;q=0.8', 'accept-language': language },
    });
  }

  /** Sends a form; a field with a file's name and content makes it one with parts. */
  submit(action: string, fields: readonly Field[]): Promise<Answer> {
    const { type, body } = encode(fields);
    const headers = { accept: 'text/html', origin: publicUrl, 'content-type': type };
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    return this.send(action, { method: 'POST', headers: { ...headers, ...length }, body });
  }

  close(): void {
    this.#agent.destroy();
  }
}

export type Field = readonly [name: string, value: string, fileName?: string];

export function queryOf(fields: readonly Field[]): URLSearchParams {
  return new URLSearchParams(fields.map(([name, value]) => [name, value]));
}

function encode(fields: readonly Field[]): { type: string; body: string } {
  if (fields.every(([, , fileName]) => fileName === undefined)) {
    return { type: 'application/x-www-form-urlencoded', body: String(queryOf(fields)) };
  }
  const parts = fields.map(([name, value, fileName]) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`;
    return `--compare\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  const type = 'multipart/form-data; boundary=compare';
  return { type, body: `${parts.join('')}--compare--\r\n` };
}

/** Headers that differ between any two answers. */
const volatile = new Set(['date', 'connection', 'keep-alive']);

/** Status and headers of an answer as text, without what is different in each. */
export function headOf({ status, headers }: Answer): string {
  const lines = Object.entries(headers)
    .filter(([name]) => !volatile.has(name))
    .map(([name, value]) => `${name}: ${String(value)}`)
    .toSorted();
  return [status, ...lines]
    .join('\n')
    .replace(/^(x-request-id: ).*/m, '$1…')
    .replace(/^(retry-after: )\d+/m, '$1…')
    .replace(/^(ratelimit: .*t=)\d+/m, '$1…')
    .replaceAll(/(__Host-retention-\w+=)[\w-]{43}/g, '$1…');
}

/** The name of a style sheet or a script has a hash of its content. */
function withoutHashes(text: string): string {
  return text.replaceAll(/-[0-9a-f]{12}(?=\.(?:css|js)\b)/g, '-…');
}

/** Everything of an answer as text; bytes that are no text in base64. */
export function whole(answer: Answer): string {
  const text = answer.body.toString('utf8');
  const isText = Buffer.from(text).equals(answer.body);
  const body = isText ? withoutHashes(text) : answer.body.toString('base64');
  return `${headOf(answer)}\n\n${body}`.replaceAll(
    /Retry after \d+ seconds/g,
    'Retry after … seconds',
  );
}
