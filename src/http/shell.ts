import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Log } from '../log/log.ts';
import type { Transport } from '../telemetry/service-metrics.ts';
import { parseTraceParent } from '../telemetry/trace-context.ts';
import type { RequestSpan, Tracer } from '../telemetry/traces.ts';
import {
  type Answer,
  internalError,
  methodNotAllowed,
  notFound,
  refuse,
  commonHeaders,
} from './answer.ts';
import { Pipelines, limitConnections, limits } from './connections.ts';
import { hostProblem } from './headers.ts';
import { RawAnswers } from './raw-answers.ts';
import { pathOf, readableTarget } from './target.ts';
import { trustProxy } from './trusted-proxies.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A path; a parameter is written `:name`. */
  readonly url: string;
  /** The label for metrics; `other` by default. */
  readonly transport?: Transport;
  /** Reads the request and returns the response; errors it throws are logged and become a 500. */
  handle(request: FastifyRequest, span?: RequestSpan): Answer | Promise<Answer>;
}

export interface ShellOptions {
  readonly log: Log;
  readonly routes: readonly Route[];
  /** Whether the public address is https. */
  readonly isHttps?: boolean;
  /** The proxies whose `X-Forwarded-*` headers are trusted; none by default. */
  readonly trustedProxies?: Config['trustedProxies'] | undefined;
  /** Once aborted, every response closes its connection. */
  readonly stopping?: AbortSignal;
  /** Gets the response for a path without a route, and may change it. */
  unrouted(path: string, answer: Answer): Answer;
  /** Milliseconds; shortened by tests only. */
  readonly stallTimeout?: number;
  readonly metrics?: RequestCounter | undefined;
  readonly tracer?: Tracer | undefined;
}

interface RequestCounter {
  count(transport: Transport, operation: string | undefined, status: number, seconds: number): void;
}

interface RequestContext {
  readonly route: Route | undefined;
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number;
  readonly span: RequestSpan | undefined;
}

/**
 * The HTTP server for all transports: limits, request ids, one log line per request, and the error
 * envelope for every request without a route.
 */
export function createShell(options: ShellOptions): FastifyInstance {
  const { log, routes, stopping, unrouted, metrics, tracer } = options;
  const pipelines = new Pipelines(options.stallTimeout);
  const fixedHeaders = commonHeaders(options.isHttps ?? false);
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    http: {
      headersTimeout: limits.headersTimeout,
      // Checked below instead, because Node's own response lacks the envelope.
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: limits.connectionsCheckingInterval,
    },
    forceCloseConnections: 'idle',
    // While closing, requests on open connections still get a response, which closes the connection.
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.headerBytes },
    rewriteUrl: (request) => readableTarget(request.url ?? '/'),
    trustProxy: trustProxy(options.trustedProxies ?? []),
    clientErrorHandler: (error, socket) => rawAnswers.refuse(error, socket),
  });

  const begin = ({ method, headers }: FastifyRequest, route?: Route): RequestContext => ({
    route,
    startedAt: performance.now(),
    span: tracer?.begin(method, route?.url, headers),
  });
  const respond = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    { route, startedAt, span }: RequestContext = begin(request),
  ) => {
    const milliseconds = performance.now() - startedAt;
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
    metrics?.count(route?.transport ?? 'other', facts?.operation, status, milliseconds / 1000);
    span?.end({ status, facts });
    const headers = [
      'x-request-id',
      request.id,
      'content-length',
      `${Buffer.byteLength(answer.body)}`,
      ...fixedHeaders,
    ];
    // Otherwise clients with keep-alive connections would prevent the service from closing.
    if (stopping?.aborted && !('connection' in answer.headers)) {
      headers.push('connection', 'close');
    }
    for (const name in answer.headers) headers.push(name, answer.headers[name] as string);
    for (const cookie of answer.cookies ?? []) headers.push('set-cookie', cookie);
    // Bypasses Fastify's reply handling, which would add nothing.
    reply.hijack();
    reply.raw.writeHead(status, headers).end(answer.body);
    pipelines.guardAnswer(request.raw);
  };
  const answerFailure = (request: FastifyRequest, error: unknown): Answer => {
    const status = clientErrorStatus(error);
    if (status !== undefined) return refuse(status, 'The request could not be read.');
    log.error({ requestId: request.id, err: error }, 'request failed');
    return internalError();
  };

  for (const route of routes) {
    const { method, url, handle } = route;
    const serve = async (request: FastifyRequest, reply: FastifyReply) => {
      const context = begin(request, route);
      let answer: Answer;
      try {
        answer = await handle(request, context.span);
      } catch (error) {
        answer = answerFailure(request, error);
      }
      respond(request, reply, answer, context);
    };
    // POST handlers run before Fastify checks the content type and reads the body: they authenticate
    // the caller first, and then do both themselves.
    const runsEarly = method === 'POST';
    app.route({ method, url, handler: serve, ...(runsEarly && { onRequest: serve }) });
  }

  const patterns = routes.map(({ method, url }) => ({
    allow: method === 'GET' ? 'GET, HEAD' : method,
    pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`),
  }));
  const refuseMethod = (path: string): Answer => {
    const allow = patterns.filter(({ pattern }) => pattern.test(path)).map((route) => route.allow);
    return unrouted(path, allow.length > 0 ? methodNotAllowed(allow.join(', ')) : notFound());
  };
  const rawAnswers = new RawAnswers({ headers: fixedHeaders, pipelines, refuseMethod });

  // Before any body is read: the body of a refused request need not be received.
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

  limitConnections(app.server);
  // Node would respond to any expectation other than 100-continue with a bare 417; servers may ignore
  // it (RFC 9110 section 10.1.1).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  app.server.on('connect', (request, socket: Socket) => rawAnswers.refuseConnect(request, socket));
  return app;
}

/** The status of a 4xx error that Fastify raised for the request; undefined for any other error. */
function clientErrorStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('statusCode' in error)) return undefined;
  const isFromFastify = typeof error.code === 'string' && error.code.startsWith('FST_');
  const { statusCode } = error;
  return isFromFastify && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
    ? statusCode
    : undefined;
}
