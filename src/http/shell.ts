import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Face } from '../telemetry/service-metrics.ts';
import { parseTraceParent } from '../telemetry/trace-context.ts';
import type { RequestSpan, Tracer } from '../telemetry/traces.ts';
import {
  type Answer,
  envelope,
  internalError,
  methodNotAllowed,
  notFound,
  refuse,
} from './answer.ts';
import { trustProxy } from './trusted-proxies.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A path; a parameter is written `:name`. */
  readonly url: string;
  /** What it is counted as; `other` if nothing is said. */
  readonly face?: Face;
  /** Reads the request and says what to answer; what it throws is logged and answered with 500. */
  handle(request: FastifyRequest, span?: RequestSpan): Answer | Promise<Answer>;
}

export interface ShellOptions {
  readonly log: Log;
  readonly routes: readonly Route[];
  /** Whose `X-Forwarded-*` headers are believed; nobody's if nothing is said. */
  readonly trustedProxies?: Config['trustedProxies'] | undefined;
  /** Once aborted, each answer is the last of its connection. */
  readonly stopping?: AbortSignal;
  /** The last word on what is answered where no route fits. */
  unrouted(path: string, answer: Answer): Answer;
  /** Where requests are counted. */
  readonly metrics?: RequestCounter | undefined;
  /** Where traces are made. */
  readonly tracer?: Tracer | undefined;
}

interface RequestCounter {
  count(face: Face, operation: string | undefined, status: number, seconds: number): void;
}

/** What is known of a request before it is answered. */
interface Begun {
  readonly route: Route | undefined;
  /** Milliseconds of the monotonic clock. */
  readonly begin: number;
  readonly span: RequestSpan | undefined;
}

/** Milliseconds and bytes: what a client may take of our patience and memory. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  headerBytes: 16 * 1024,
  connectionsCheckingInterval: 2_000,
  /** One more is closed at once. Each has one request under way, so these are bounded as well. */
  connections: 10_000,
};

/**
 * The HTTP server around all faces: bounds, request ids, one log line a request, and the envelope
 * for everything that reaches no face.
 */
export function createShell(options: ShellOptions): FastifyInstance {
  const { log, routes, stopping, unrouted, metrics, tracer } = options;
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    http: {
      headersTimeout: limits.headersTimeout,
      // Refused below: Node's own refusal has no envelope.
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: limits.connectionsCheckingInterval,
    },
    forceCloseConnections: 'idle',
    // While closing, a request on an open connection is still answered, and the connection ended.
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.headerBytes },
    rewriteUrl: (request) => withReadablePath(originForm(request.url ?? '/')),
    trustProxy: trustProxy(options.trustedProxies ?? []),
    clientErrorHandler: answerBrokenRequest,
  });

  const begun = ({ method, headers }: FastifyRequest, route?: Route): Begun => ({
    route,
    begin: performance.now(),
    span: tracer?.begin(method, route?.url, headers),
  });
  const respond = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    { route, begin, span }: Begun = begun(request),
  ) => {
    const milliseconds = performance.now() - begin;
    const { status, facts } = answer;
    log.request({
      requestId: request.id,
      method: request.method,
      route: route?.url,
      status,
      durationMs: Math.round(milliseconds * 1000) / 1000,
      traceId: span?.traceId ?? parseTraceParent(request.headers['traceparent'])?.traceId,
      ...facts,
    });
    metrics?.count(route?.face ?? 'other', facts?.operation, status, milliseconds / 1000);
    span?.end({ status, facts });
    const headers = [
      'x-request-id',
      request.id,
      'content-length',
      `${Buffer.byteLength(answer.body)}`,
    ];
    // Else a client that keeps its connection would keep a service that is closing from its end.
    if (stopping?.aborted && !('connection' in answer.headers)) {
      headers.push('connection', 'close');
    }
    for (const name in answer.headers) headers.push(name, answer.headers[name] as string);
    for (const cookie of answer.cookies ?? []) headers.push('set-cookie', cookie);
    // Past the library's own way of answering, which has nothing to add.
    reply.hijack();
    reply.raw.writeHead(status, headers).end(answer.body);
  };
  const answerFailure = (request: FastifyRequest, error: unknown): Answer => {
    const status = clientFault(error);
    if (status !== undefined) return refuse(status, 'The request could not be read.');
    log.error({ requestId: request.id, err: error }, 'request failed');
    return internalError();
  };

  for (const route of routes) {
    const { method, url, handle } = route;
    const serve = async (request: FastifyRequest, reply: FastifyReply) => {
      const known = begun(request, route);
      let answer: Answer;
      try {
        answer = await handle(request, known.span);
      } catch (error) {
        answer = answerFailure(request, error);
      }
      respond(request, reply, answer, known);
    };
    // No body is read, and no content type judged, before the face has let the caller in; then it
    // does both by itself.
    const isEarly = method === 'POST';
    app.route({ method, url, handler: serve, ...(isEarly && { onRequest: serve }) });
  }

  const known = routes.map(({ method, url }) => ({
    allow: method === 'GET' ? 'GET, HEAD' : method,
    pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`),
  }));
  // Before any body is read: what is not answered need not be received.
  app.addHook('onRequest', (request, reply, done) => {
    // RFC 9112 section 3.2.
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return respond(request, reply, refuse(400, 'The Host header is missing.'));
    }
    if (!request.is404) return done();
    const path = decodeURI(request.url.split('?', 1)[0] as string);
    const allow = known.filter(({ pattern }) => pattern.test(path)).map((route) => route.allow);
    const answer = allow.length > 0 ? methodNotAllowed(allow.join(', ')) : notFound();
    respond(request, reply, unrouted(path, answer));
  });
  app.setErrorHandler((error, request, reply) =>
    respond(request, reply, answerFailure(request, error)),
  );

  app.server.maxConnections = limits.connections;
  // Node would answer what else is expected than 100-continue with a bare 417; it may be ignored
  // (RFC 9110 section 10.1.1).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  // CONNECT would be cut off without a word.
  app.server.on('connect', (_request, socket: Socket) =>
    writeRaw(socket, 405, 'Method not allowed.'),
  );
  return app;
}

/** The status of an error by which the HTTP library refuses a request; undefined for our own. */
function clientFault(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('statusCode' in error)) return undefined;
  const isLibrarys = typeof error.code === 'string' && error.code.startsWith('FST_');
  const { statusCode } = error;
  return isLibrarys && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
    ? statusCode
    : undefined;
}

/** A target in absolute form without the server that it names (RFC 9112 section 3.2.2). */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** A path that is not valid percent-encoding is taken literally, so that it names nothing. */
function withReadablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

const brokenRequests: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    `The request line and headers are larger than ${limits.headerBytes} bytes.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
};

function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, message] = brokenRequests[error.code ?? ''] ?? [
    400,
    'The request could not be read.',
  ];
  writeRaw(socket, status, message);
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** An answer to what never became a request. */
function writeRaw(socket: Socket, status: number, message: string): void {
  if (!socket.writable) return void socket.destroy();
  const body = envelope(message);
  socket.end(
    [
      `HTTP/1.1 ${status} ${reasons[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${randomUUID()}`,
      ...(status === 405 ? ['allow: GET, HEAD'] : []),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
