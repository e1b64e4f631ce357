import type { IncomingHttpHeaders } from 'node:http';
import type { Context, Span, SpanContext, Tracer as SdkTracer } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import { parseTraceParent } from './trace-context.ts';

/** How a request ended, in words and numbers of ours only. */
interface Outcome {
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
  /** Runs a part of the request's work in a span of its own. */
  during<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  end(outcome: Outcome): void;
}

export interface Tracer {
  /** @param route the pattern of the path; undefined where none fits */
  begin(method: string, route: string | undefined, headers: IncomingHttpHeaders): RequestSpan;
  /** Sends what is left, for two seconds at most. */
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
/** Anything else that a parser lets through is a method of nobody's. */
const knownMethods = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
);

/**
 * Starts to send traces by OTLP. The libraries are loaded only now, since few need them; they read
 * address, headers, timeout and resource from the environment themselves.
 */
export async function startTracing({ config, log, clock, version }: TracerParts): Promise<Tracer> {
  const [api, sdk, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const say = nowAndThen(clock, (reason) => log.warn({ reason }, 'tracing has trouble'));
  const warn = (...words: unknown[]) => say(words.map(String).join(' '));
  api.diag.setLogger(
    { error: warn, warn, info() {}, debug() {}, verbose() {} },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const sampler = samplerOf(sdk, config);
  if (!sampler) warn(`OTEL_TRACES_SAMPLER is none of ${samplerNames.join(', ')}`);

  const { detectResources, envDetector, defaultResource, resourceFromAttributes } = resources;
  const provider = new sdk.TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
    // Whoever called with a trace has decided; only its own beginnings are sampled here.
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
        // A refusal is no failure. Of one, its name only: the message is for the log, which redacts.
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

/** The trace that the caller's headers name, or none. */
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

/** @returns undefined where the name is not known, which means the default */
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

/** From 0 to 1; everything where it is not that. */
function ratioOf(argument: string | undefined): number {
  const ratio = Number(argument ?? 1);
  return ratio >= 0 && ratio <= 1 ? ratio : 1;
}

const quietMilliseconds = 60_000;

/** A collector that is away is no reason to fill the log. */
function nowAndThen(clock: Clock, say: (text: string) => void): (text: string) => void {
  let last = -Infinity;
  return (text) => {
    const now = clock.monotonic();
    if (now - last < quietMilliseconds) return;
    last = now;
    say(text);
  };
}
