import { Readable, pipeline } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UsedKey } from '../access/keys/key-usage.ts';
import type { AnsweredRequest } from '../access/keys/request-log.ts';
import type { Log } from '../log/log.ts';
import type { Transport } from '../telemetry/service-metrics.ts';
import { parseTraceParent } from '../telemetry/trace-context.ts';
import type { RequestSpan } from '../telemetry/traces.ts';
import { type Answer, type AnswerBody, internalError, refuse } from './answer.ts';
import type { Pipelines } from './connections.ts';

export interface RequestCounter {
  count(transport: Transport, operation: string | undefined, status: number, seconds: number): void;
}

/** Gets every answered request with a key that exists. */
export interface CallRecorder {
  note(key: UsedKey, request: AnsweredRequest): void;
}

/** What is known of a request from its beginning. */
export interface RequestContext {
  /** Undefined for a request without one. */
  readonly route:
    | { readonly url: string; readonly transport?: Transport; readonly isAsset?: boolean }
    | undefined;
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number;
  readonly span: RequestSpan | undefined;
}

interface ResponderParts {
  readonly log: Log;
  readonly metrics: RequestCounter | undefined;
  readonly calls: CallRecorder | undefined;
  /** Once aborted, every response closes its connection. */
  readonly stopping: AbortSignal | undefined;
  /** Names and values in turn. */
  readonly fixedHeaders: readonly string[];
  readonly pipelines: Pipelines;
}

type Respond = (
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer<AnswerBody>,
  context: RequestContext,
) => void;

/** Sends answers; each is logged in one line, counted, and ends its span. */
export function createResponder(parts: ResponderParts): Respond {
  const { log, metrics, calls, stopping, fixedHeaders, pipelines } = parts;
  return (request, reply, answer, { route, startedAt, span }) => {
    const milliseconds = performance.now() - startedAt;
    const { status, facts, call, start = '', body } = answer;
    log.request({
      requestId: request.id,
      method: request.method,
      route: route?.url,
      status,
      durationMs: Math.round(milliseconds * 1000) / 1000,
      isAsset: route?.isAsset,
      traceId: span?.traceId ?? parseTraceParent(request.headers['traceparent'])?.traceId,
      ...facts,
    });
    metrics?.count(route?.transport ?? 'other', facts?.operation, status, milliseconds / 1000);
    if (call) {
      const { key, operation } = call;
      const transport = route?.transport === 'mcp' ? 'mcp' : 'rest';
      calls?.note(key, { requestId: request.id, transport, operation, status, milliseconds });
    }
    span?.end({ status, facts });
    const headers = ['x-request-id', request.id, ...fixedHeaders];
    // That of a 304 would have to be the length of the answer it stands for (RFC 9110 section 8.6).
    if (status !== 304 && !(body instanceof Readable)) {
      headers.push('content-length', `${Buffer.byteLength(start) + Buffer.byteLength(body)}`);
    }
    // Otherwise clients with keep-alive connections would prevent the service from closing.
    if (stopping?.aborted && !('connection' in answer.headers)) {
      headers.push('connection', 'close');
    }
    for (const name in answer.headers) headers.push(name, answer.headers[name] as string);
    for (const cookie of answer.cookies ?? []) headers.push('set-cookie', cookie);
    // Before Fastify hands over, so that it answers for us if a header is impossible.
    reply.raw.writeHead(status, headers);
    // Bypasses Fastify's reply handling, which would add nothing.
    reply.hijack();
    if (body instanceof Readable) {
      pipelines.guardStream(request.raw);
      return stream(body, request, reply, log);
    }
    if (start !== '') reply.raw.write(start);
    reply.raw.end(body);
    pipelines.guardAnswer(request.raw);
  };
}

/** Sends a body while it is read. If reading it fails, the connection breaks off, so that no client takes it for whole. */
function stream(body: Readable, { id, method }: FastifyRequest, { raw }: FastifyReply, log: Log) {
  if (method === 'HEAD') {
    body.destroy();
    raw.end();
    return;
  }
  pipeline(body, raw, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      log.error({ requestId: id, err: error }, 'answer broke off');
    }
  });
}

/** The answer to a request whose handling failed. The caller learns nothing of an error that is ours. */
export function failureAnswer(log: Log, requestId: string, error: unknown): Answer {
  const status = clientErrorStatus(error);
  if (status !== undefined) return refuse(status, 'The request could not be read.');
  log.error({ requestId, err: error }, 'request failed');
  return internalError();
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
