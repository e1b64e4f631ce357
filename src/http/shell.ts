import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Transport } from '../telemetry/service-metrics.ts';
import { parseTraceParent } from '../telemetry/trace-context.ts';
import type { RequestSpan, Tracer } from '../telemetry/traces.ts';
import {
  type Answer,
  internalError,
  methodNotAllowed,
  notFound,
  refuse,
  headersOfEveryAnswer,
} from './answer.ts';
import { Pipelines, boundConnections, limits } from './connections.ts';
import { hostProblem } from './headers.ts';
import { RawAnswers } from './raw-answers.ts';
import { pathOf, readableTarget } from './target.ts';
import { trustProxy } from './trusted-proxies.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A path; a parameter is written `:name`. */
  readonly url: string;
  /** What it is counted as; `other` if nothing is said. */
  readonly face?: Transport;
  /** Reads the request and says what to answer; what it throws is logged and answered with 500. */
  handle(request: FastifyRequest, span?: RequestSpan): Answer | Promise<Answer>;
}

export interface ShellOptions {
  readonly log: Log;
  readonly routes: readonly Route[];
  /** Whether the public address is https. */
  readonly isHttps?: boolean;
  /** Whose `X-Forwarded-*` headers are believed; none by default. */
  readonly trustedProxies?: Config['trustedProxies'] | undefined;
  /** Once aborted, each answer is the last of its connection. */
  readonly stopping?: AbortSignal;
  /** The last word on what is answered where no route fits. */
  unrouted(path: string, answer: Answer): Answer;
  /** Only tests are less patient with clients that stop reading. */
  readonly stallTimeout?: number;
  /** Where requests are counted. */
  readonly metrics?: RequestCounter | undefined;
  /** Where traces are made. */
  readonly tracer?: Tracer | undefined;
}

interface RequestCounter {
  count(face: Transport, operation: string | undefined, status: number, seconds: number): void;
}

/** What is known of a request before it is answered. */
interface Begun {
  readonly route: Route | undefined;
  /** Milliseconds of the monotonic clock. */
  readonly begin: number;
  readonly span: RequestSpan | undefined;
}

/**
 * The HTTP server around all faces: bounds, request ids, one log line a request, and the envelope
 * for everything that reaches no face.
 */
export function createShell(options: ShellOptions): FastifyInstance {
  const { log, routes, stopping, unrouted, metrics, tracer } = options;
  const pipelines = new Pipelines(options.stallTimeout);
  const fixedHeaders = headersOfEveryAnswer(options.isHttps ?? false);
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
    rewriteUrl: (request) => readableTarget(request.url ?? '/'),
    trustProxy: trustProxy(options.trustedProxies ?? []),
    clientErrorHandler: (error, socket) => rawAnswers.refuse(error, socket),
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
      ...fixedHeaders,
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
    pipelines.guardAnswer(request.raw);
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
  const refuseMethod = (path: string): Answer => {
    const allow = known.filter(({ pattern }) => pattern.test(path)).map((route) => route.allow);
    return unrouted(path, allow.length > 0 ? methodNotAllowed(allow.join(', ')) : notFound());
  };
  const rawAnswers = new RawAnswers({ headers: fixedHeaders, pipelines, refuseMethod });

  // Before any body is read: what is not answered need not be received.
  app.addHook('onRequest', (request, reply, done) => {
    if (!pipelines.accept(request.raw, reply.raw)) return void reply.hijack();
    const problem = hostProblem(request.raw);
    if (problem !== undefined) return respond(request, reply, refuse(400, problem));
    if (!request.is404) return done();
    respond(request, reply, refuseMethod(pathOf(request.url)));
  });
  app.setErrorHandler((error, request, reply) =>
    respond(request, reply, answerFailure(request, error)),
  );

  boundConnections(app.server);
  // Node would answer what else is expected than 100-continue with a bare 417; it may be ignored
  // (RFC 9110 section 10.1.1).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  app.server.on('connect', (request, socket: Socket) => rawAnswers.refuseConnect(request, socket));
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
