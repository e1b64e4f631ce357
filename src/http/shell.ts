import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import type { Transport } from '../telemetry/service-metrics.ts';
import type { RequestSpan, Tracer } from '../telemetry/traces.ts';
import {
  type Answer,
  type AnswerBody,
  methodNotAllowed,
  notFound,
  refuse,
  commonHeaders,
} from './answer.ts';
import { Pipelines, limitConnections, limits } from './connections.ts';
import { hostProblem, pathOf, readableTarget } from './headers.ts';
import { RawAnswers } from './raw-answers.ts';
import {
  type CallRecorder,
  type RequestContext,
  type RequestCounter,
  createResponder,
  failureAnswer,
} from './respond.ts';
import { trustProxy } from './trusted-proxies.ts';

/** No route has a schema. The compilers that Fastify would load are 100 files. */
const withoutSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A path; a parameter is written `:name`, and `*` at the end stands for any rest without a route. */
  readonly url: string;
  /** The label for metrics; `other` by default. */
  readonly transport?: Transport;
  /** Whether its body may take longer to arrive than others; it then limits that itself. */
  readonly isSlow?: boolean;
  /** Whether it is part of a page, so that its requests are of no interest to most readers of the log. */
  readonly isAsset?: boolean;
  /** Reads the request and returns the response; errors it throws are logged and become a 500. */
  handle(
    request: FastifyRequest,
    span?: RequestSpan,
  ): Answer<AnswerBody> | Promise<Answer<AnswerBody>>;
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
  /**
   * Gets the response for a path without a route, and may change it.
   * @param accept the request's `Accept` header
   */
  unrouted(path: string, answer: Answer, accept?: string): Answer;
  /** Milliseconds; shortened by tests only. */
  readonly stallTimeout?: number;
  readonly metrics?: RequestCounter | undefined;
  readonly calls?: CallRecorder | undefined;
  readonly tracer?: Tracer | undefined;
}

function refuseSchema(): never {
  throw new Error('Routes check their input themselves; none has a schema.');
}

/**
 * The HTTP server for all transports: limits, request ids, one log line per request, and the error
 * envelope for every request without a route.
 */
export function createShell(options: ShellOptions): FastifyInstance {
  const { log, routes, stopping, unrouted, metrics, calls, tracer } = options;
  const pipelines = new Pipelines(options.stallTimeout);
  /** Connections on which a request arrives that may take long. */
  const slow = new WeakSet<Socket>();
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
    schemaController: { compilersFactory: withoutSchemas },
    routerOptions: { maxParamLength: limits.headerBytes },
    rewriteUrl: (request) => readableTarget(request.url ?? '/'),
    trustProxy: trustProxy(options.trustedProxies ?? []),
    clientErrorHandler(error, socket) {
      const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
      if (!isTimeout || !slow.has(socket)) rawAnswers.refuse(error, socket);
    },
  });

  const begin = ({ method, headers }: FastifyRequest, route?: Route): RequestContext => ({
    route,
    startedAt: performance.now(),
    span: tracer?.begin(method, route?.url, headers),
  });
  const respond = createResponder({ log, metrics, calls, stopping, fixedHeaders, pipelines });
  /** Answers a request that no route handles. */
  const respondUnrouted = (request: FastifyRequest, reply: FastifyReply, answer: Answer) =>
    respond(request, reply, answer, begin(request));

  for (const route of routes) {
    const { method, url, handle, isSlow } = route;
    const serve = async (request: FastifyRequest, reply: FastifyReply) => {
      const context = begin(request, route);
      let answer: Answer<AnswerBody>;
      if (isSlow) slow.add(request.raw.socket);
      try {
        answer = await handle(request, context.span);
      } catch (error) {
        answer = failureAnswer(log, request.id, error);
      }
      if (isSlow) slow.delete(request.raw.socket);
      respond(request, reply, answer, context);
    };
    // Handlers run before Fastify checks the content type and reads the body: they authenticate the caller
    // first, and then do both themselves. The steps that are left out would cost every request something.
    app.route({ method, url, onRequest: serve, handler: serve });
  }

  const patterns = routes
    .filter(({ url }) => !url.endsWith('*'))
    .map(({ method, url }) => ({
      allow: method === 'GET' ? 'GET, HEAD' : method,
      pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`),
    }));
  const refuseMethod = (path: string, accept?: string): Answer => {
    const allow = patterns.filter(({ pattern }) => pattern.test(path)).map((route) => route.allow);
    const answer = allow.length > 0 ? methodNotAllowed(allow.join(', ')) : notFound();
    return unrouted(path, answer, accept);
  };
  const rawAnswers = new RawAnswers({ headers: fixedHeaders, pipelines, refuseMethod });

  // Before any body is read: the body of a refused request need not be received.
  app.addHook('onRequest', (request, reply, done) => {
    if (!pipelines.accept(request.raw, reply.raw)) return void reply.hijack();
    const problem = hostProblem(request.raw);
    if (problem !== undefined) return respondUnrouted(request, reply, refuse(400, problem));
    if (!request.is404) return done();
    const { accept } = request.headers;
    respondUnrouted(request, reply, refuseMethod(pathOf(request.url), accept));
  });
  app.setErrorHandler((error, request, reply) =>
    respondUnrouted(request, reply, failureAnswer(log, request.id, error)),
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
