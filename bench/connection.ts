import { type Socket, connect } from 'node:net';

/** @param answer its first bytes, including the headers */
type Answered = (status: number, answer: Buffer) => void;

const nothing: Buffer = Buffer.alloc(0);

/** A minimal HTTP client connection with at most one request in flight. */
export class Connection {
  readonly #socket: Socket;
  #head = nothing;
  #status = 0;
  /** Bytes of the body that have not arrived. */
  #missing = 0;
  #answered: Answered | undefined;

  /** @param fail called when the connection is lost */
  constructor(port: number, fail: (error: Error) => void) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('error', fail);
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on('end', () => fail(new Error('The server closed a connection.')));
  }

  /** Settles once requests can be sent without waiting for the connection. */
  opened(): Promise<void> {
    return new Promise((resolve) => this.#socket.once('connect', resolve));
  }

  /** @param answered called once the answer is complete */
  send(request: string, answered: Answered): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#missing > 0) {
      this.#missing -= chunk.length;
    } else {
      this.#head = this.#head === nothing ? chunk : Buffer.concat([this.#head, chunk]);
      const bodyAt = this.#head.indexOf('\r\n\r\n');
      if (bodyAt === -1) return;
      const text = this.#head.toString('latin1', 0, bodyAt);
      this.#status = Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      this.#missing = length - (this.#head.length - bodyAt - 4);
    }
    if (this.#missing > 0) return;
    const head = this.#head;
    this.#head = nothing;
    this.#answered?.(this.#status, head);
  }
}
