import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, methodNotAllowed, refuse } from './answer.ts';
import { type Pipelines, limits } from './connections.ts';
import { hostProblem, pathOf, readableTarget } from './headers.ts';

interface RawAnswerParts {
  /** Alternating names and values, for every response. */
  readonly headers: readonly string[];
  readonly pipelines: Pipelines;
  /** The response to a method that the path does not support. */
  refuseMethod(path: string): Answer;
}

/** An error from Node's parser, or from its timers (without a packet). */
interface ParserError extends Error {
  readonly code?: string;
  /** A Buffer, although Fastify's types do not say so. */
  readonly rawPacket?: object;
  /** Position of the error in the packet. */
  readonly bytesParsed?: number;
}

/** How long the client may take to read the response before the connection is destroyed. */
const lingerMilliseconds = 2_000;

const unreadable = refuse(400, 'The request could not be read.');
const refusals: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: refuse(
    431,
    `The request line and headers are larger than ${limits.headerBytes} bytes.`,
  ),
  ERR_HTTP_REQUEST_TIMEOUT: refuse(408, 'The request took too long to arrive.'),
};

/** Not from `node:http`: see `telemetry/metrics-server.ts` for the cost of importing it. */
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  410: 'Gone',
  431: 'Request Header Fields Too Large',
};

/** The parser's error for an unknown version, and after a whole request line with HTTP/2's method, PRI. */
const versionError = 'HPE_INVALID_VERSION';
/** Its errors for methods that are unknown, or known only from RTSP or HTTP/2. */
const methodErrors = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT', versionError]);
const requestLine =
  /^[\w!#$%&'*+.^`|~-]+ (?<target>\*|(?:\/|[a-z][\w+.-]*:\/\/)[!-~]*) HTTP\/1\.[01]\r?$/i;
const partialRequestLine = /^[\w!#$%&'*+.^`|~-]+(?: [ -~]*\r?)?$/;

/** Responds to requests that Node.js reports only as a `clientError` or `connect` event. */
export class RawAnswers {
  readonly #parts: RawAnswerParts;
  readonly #answered = new WeakSet<Socket>();
  /** Incomplete request lines with an unknown method. */
  readonly #partialLines = new WeakMap<Socket, string>();

  constructor(parts: RawAnswerParts) {
    this.#parts = parts;
  }

  /** Handles `clientError`, which Node.js emits again for each further packet. */
  refuse(error: ParserError, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed || this.#answered.has(socket)) return;
    const answer = refusals[error.code ?? ''] ?? this.#refuseLine(error, socket);
    if (answer) this.#answer(socket, answer);
  }

  /** Handles `connect`: this service is not a proxy. */
  refuseConnect(request: IncomingMessage, socket: Socket): void {
    // Node.js has removed its listeners by now, and an unhandled error event would end the process.
    socket.on('error', () => socket.destroy());
    const problem = hostProblem(request);
    const target = request.url ?? '';
    // The target is usually a host and port rather than a path.
    const refusal = /^\/|:\/\//.test(target)
      ? this.#refuseMethod(target)
      : methodNotAllowed('GET, HEAD');
    this.#answer(socket, problem === undefined ? refusal : refuse(400, problem));
  }

  /** @returns undefined while an incomplete request line may still turn out to have an unknown method */
  #refuseLine(error: ParserError, socket: Socket): Answer | undefined {
    const { code = '', rawPacket, bytesParsed = 0 } = error;
    if (!Buffer.isBuffer(rawPacket) || !methodErrors.has(code)) return unreadable;
    const packet = rawPacket.toString('latin1');
    const partial = this.#partialLines.get(socket);
    const parsed = packet.slice(0, code === versionError ? bytesParsed - 1 : bytesParsed);
    // Earlier requests may be in the same packet.
    const start = partial === undefined ? parsed.lastIndexOf('\n') + 1 : 0;
    const end = packet.indexOf('\n', start);
    const line = (partial ?? '') + packet.slice(start, end < 0 ? undefined : end);
    if (end < 0 && line.length <= limits.headerBytes && partialRequestLine.test(line)) {
      this.#partialLines.set(socket, line);
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
    this.#parts.pipelines.afterAnswers(socket, (needsAnswer) => {
      if (!socket.writable) return void socket.destroy();
      socket.end(needsAnswer ? this.#render(answer) : '');
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
