import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, methodNotAllowed, refuse } from './answer.ts';
import { type Pipelines, limits } from './connections.ts';
import { hostProblem } from './headers.ts';
import { pathOf, readableTarget } from './target.ts';

interface RawAnswerParts {
  /** Names and values, by turns, that every answer has. */
  readonly headers: readonly string[];
  readonly pipelines: Pipelines;
  /** The answer to a method that the path is not served by. */
  refuseMethod(path: string): Answer;
}

/** An error of Node's parser, or of its timers, which have read nothing. */
interface ParserError extends Error {
  readonly code?: string;
  /** A buffer, whatever Fastify's types say. */
  readonly rawPacket?: object;
  /** Where in the packet it was met. */
  readonly bytesParsed?: number;
}

/** So long is an answer waited for to be read, where the connection can be used for nothing else. */
const lingerMilliseconds = 2_000;

const unreadable = refuse(400, 'The request could not be read.');
const refusals: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: refuse(
    431,
    `The request line and headers are larger than ${limits.headerBytes} bytes.`,
  ),
  ERR_HTTP_REQUEST_TIMEOUT: refuse(408, 'The request took too long to arrive.'),
};

/** Not Node's own list: `telemetry/metrics-server.ts` says what importing `node:http` costs. */
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  410: 'Gone',
  431: 'Request Header Fields Too Large',
};

/** How the parser fails at a method that it does not know, or knows from RTSP only. */
const methodErrors = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT']);
const requestLine =
  /^[\w!#$%&'*+.^`|~-]+ (?<target>\*|(?:\/|[a-z][\w+.-]*:\/\/)[!-~]*) HTTP\/1\.[01]\r?$/i;
const begunRequestLine = /^[\w!#$%&'*+.^`|~-]+(?: [ -~]*\r?)?$/;

/** Answers on connections whose requests Node.js does not hand over as such. */
export class RawAnswers {
  readonly #parts: RawAnswerParts;
  readonly #answered = new WeakSet<Socket>();
  /** Request lines with an unknown method, as far as they have arrived. */
  readonly #begun = new WeakMap<Socket, string>();

  constructor(parts: RawAnswerParts) {
    this.#parts = parts;
  }

  /** For the event `clientError`, which comes again with each further packet. */
  refuse(error: ParserError, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed || this.#answered.has(socket)) return;
    const answer = refusals[error.code ?? ''] ?? this.#refuseLine(error, socket);
    if (answer) this.#answer(socket, answer);
  }

  /** For the event `connect`: this service is no tunnel. */
  refuseConnect(request: IncomingMessage, socket: Socket): void {
    // Node.js has removed its own listeners by now, and an error without a listener ends the process.
    socket.on('error', () => socket.destroy());
    const problem = hostProblem(request);
    const target = request.url ?? '';
    // The target is usually a host and port, which is not a path.
    const refusal = /^\/|:\/\//.test(target)
      ? this.#refuseMethod(target)
      : methodNotAllowed('GET, HEAD');
    this.#answer(socket, problem === undefined ? refusal : refuse(400, problem));
  }

  /** @returns undefined while the request line may still become one with an unknown method */
  #refuseLine(error: ParserError, socket: Socket): Answer | undefined {
    const { code = '', rawPacket, bytesParsed = 0 } = error;
    if (!Buffer.isBuffer(rawPacket) || !methodErrors.has(code)) return unreadable;
    const packet = rawPacket.toString('latin1');
    const begun = this.#begun.get(socket);
    // Requests before it may stand in the same packet.
    const start = begun === undefined ? packet.slice(0, bytesParsed).lastIndexOf('\n') + 1 : 0;
    const end = packet.indexOf('\n', start);
    const line = (begun ?? '') + packet.slice(start, end < 0 ? undefined : end);
    if (end < 0 && line.length <= limits.headerBytes && begunRequestLine.test(line)) {
      this.#begun.set(socket, line);
      return undefined;
    }
    const target = requestLine.exec(line)?.groups?.['target'];
    return target === undefined ? unreadable : this.#refuseMethod(target);
  }

  #refuseMethod(target: string): Answer {
    return this.#parts.refuseMethod(pathOf(readableTarget(target)));
  }

  #answer(socket: Socket, answer: Answer): void {
    this.#answered.add(socket);
    this.#parts.pipelines.afterAnswers(socket, (isOwed) => {
      if (!socket.writable) return void socket.destroy();
      socket.end(isOwed ? this.#render(answer) : '');
      setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
    });
  }

  #render({ status, headers, body }: Answer): string {
    const fixed = this.#parts.headers;
    const lines = [
      `HTTP/1.1 ${status} ${reasons[status]}`,
      `x-request-id: ${randomUUID()}`,
      `content-length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    for (let index = 0; index < fixed.length; index += 2) {
      lines.push(`${fixed[index]}: ${fixed[index + 1]}`);
    }
    lines.push('connection: close');
    return `${lines.join('\r\n')}\r\n\r\n${body}`;
  }
}
