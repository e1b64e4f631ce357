import type { IncomingHttpHeaders } from 'node:http';
import type { Context, Span, SpanContext, Tracer as SdkTracer } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { throttled } from '../log/throttled.ts';
import { parseTraceParent } from './trace-context.ts';

/** The outcome of a request; contains only our own names and numbers. */
interface RequestOutcome {
  readonly status: number;
  readonly facts:
    | {
        readonly shopId?: number;
        readonly keyId?: string;
        readonly operation?: string;
        readonly revision?: string;
        readonly mcp?: string;
      }
    | undefined;
}

export interface RequestSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Runs part of the request's work in a child span. */
  during<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  end(outcome: RequestOutcome): void;
}

export interface Tracer {
  /** @param route the path's pattern; undefined if none matched */
  begin(method: string, route: string | undefined, headers: IncomingHttpHeaders): RequestSpan;
  /** Sends remaining spans, for at most two seconds. */
  close(): Promise<void>;
}

interface TracerParts {
  readonly config: NonNullable<Config['tracing']>;
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
}

const serviceName = 'retention-data-service';
const flushMilliseconds = 2_000;
/** Other methods that the HTTP parser accepts are reported as _OTHER. */
const knownMethods = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
);

/**
 * Starts sending traces by OTLP. Loads the libraries only now, since few installations need them;
 * they read the address, headers, timeout and resource from the environment themselves.
 */
export async function startTracing({ config, log, clock, version }: TracerParts): Promise<Tracer> {
  const [api, sdk, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const logProblem = throttled(clock, (reason: string) => log.warn({ reason }, 'tracing problem'));
  const warn = (...parts: unknown[]) => logProblem(parts.map(String).join(' '));
  api.diag.setLogger(
    { error: warn, warn, info() {}, debug() {}, verbose() {} },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const sampler = samplerOf(sdk, config);
  if (!sampler) warn(`OTEL_TRACES_SAMPLER must be one of ${samplerNames.join(', ')}`);

  const { detectResources, envDetector, defaultResource, resourceFromAttributes } = resources;
  const provider = new sdk.TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
    // A caller that sent a trace has decided about sampling; this is for traces started here.
    ...(sampler && { sampler }),
  });
  const tracer = provider.getTracer(serviceName, version);

  return {
    begin(method, route, headers) {
      const known = knownMethods.has(method) ? method : undefined;
      const span = tracer.startSpan(
        [known ?? 'HTTP', route].join(' ').trimEnd(),
        {
          kind: api.SpanKind.SERVER,
          attributes: {
            'http.request.method': known ?? '_OTHER',
            'url.scheme': 'http',
            ...(route !== undefined && { 'http.route': route }),
          },
        },
        parentContext(api, headers),
      );
      return requestSpan(api, tracer, span);
    },
    async close() {
      const flushed = provider.shutdown().catch((error) => warn(error));
      let timer: NodeJS.Timeout | undefined;
      const bound = new Promise((resolve) => {
        timer = setTimeout(resolve, flushMilliseconds);
      });
      await Promise.race([flushed, bound]);
      clearTimeout(timer);
    },
  };
}

type Api = typeof import('@opentelemetry/api');

function requestSpan(api: Api, tracer: SdkTracer, span: Span): RequestSpan {
  const below = api.trace.setSpan(api.ROOT_CONTEXT, span);
  return {
    traceId: span.spanContext().traceId,
    async during(name, work) {
      const part = tracer.startSpan(name, { kind: api.SpanKind.INTERNAL }, below);
      try {
        return await work();
      } catch (error) {
        // Refusals are not failures. Set only the error's name; messages go to the log, which is
        // redacted.
        if (!(error instanceof ServiceError) || error.kind === 'internal') {
          part.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
          part.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        throw error;
      } finally {
        part.end();
      }
    },
    end({ status, facts }) {
      const { shopId, keyId, operation, revision, mcp } = facts ?? {};
      if (revision !== undefined) span.updateName([mcp, operation].join(' ').trimEnd());
      span.setAttribute('http.response.status_code', status);
      if (operation !== undefined) span.setAttribute('retention.operation', operation);
      if (shopId !== undefined) span.setAttribute('retention.shop_id', shopId);
      if (keyId !== undefined) span.setAttribute('retention.key_id', keyId);
      if (status >= 500) {
        span.setAttribute('error.type', String(status));
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** The trace in the caller's headers, if any. */
function parentContext(api: Api, headers: IncomingHttpHeaders): Context {
  const parent = parseTraceParent(headers['traceparent']);
  if (!parent) return api.ROOT_CONTEXT;
  const state = headers['tracestate'];
  const context: SpanContext = {
    traceId: parent.traceId,
    spanId: parent.spanId,
    traceFlags: parent.isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
    isRemote: true,
    ...(typeof state === 'string' && { traceState: api.createTraceState(state) }),
  };
  return api.trace.setSpanContext(api.ROOT_CONTEXT, context);
}

const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];

type Sdk = typeof import('@opentelemetry/sdk-trace');

/** @returns undefined for an unknown name, which means the default */
function samplerOf(
  sdk: Sdk,
  { sampler = 'parentbased_always_on', samplerArgument }: TracerParts['config'],
): Sampler | undefined {
  const root = rootSampler(sdk, sampler.replace(/^parentbased_/, ''), samplerArgument);
  return root && sampler.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function rootSampler(sdk: Sdk, name: string, argument: string | undefined): Sampler | undefined {
  switch (name) {
    case 'always_on':
      return new sdk.AlwaysOnSampler();
    case 'always_off':
      return new sdk.AlwaysOffSampler();
    case 'traceidratio':
      return new sdk.TraceIdRatioBasedSampler(ratioOf(argument));
    default:
      return undefined;
  }
}

/** From 0 to 1; anything else means 1. */
function ratioOf(argument: string | undefined): number {
  const ratio = Number(argument ?? 1);
  return ratio >= 0 && ratio <= 1 ? ratio : 1;
}
