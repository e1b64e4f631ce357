import type { FastifyRequest } from 'fastify';
import type { Admission, Caller, Gate } from '../access/gate.ts';
import type { RateDecision } from '../access/limiter/rate-limiter.ts';
import { ServiceError } from '../errors.ts';
import {
  type Answer,
  type Call,
  type Facts,
  internalError,
  privateJson,
  rateHeaders,
  renderRefusal,
} from '../http/answer.ts';
import { authorizationOf } from '../http/headers.ts';
import type { Route } from '../http/shell.ts';
import type { Log } from '../log/log.ts';
import type { Operation } from '../operations/define.ts';
import { type InvokeParts, invoke } from '../operations/invoke.ts';
import type { RequestSpan } from '../telemetry/traces.ts';
import { createDecoder } from './decode.ts';
import type { RestVersion } from '../operations/versions.ts';

export interface RestParts extends InvokeParts {
  readonly gate: Gate;
  readonly log: Log;
}

/** The routes of all versions: one per operation, plus aliases. */
export function restRoutes(versions: readonly RestVersion[], parts: RestParts): Route[] {
  return versions.flatMap(({ basePath, operations, aliases = {} }) =>
    operations.flatMap((operation) => {
      const handle = createHandler(operation, parts);
      const alias = aliases[operation.path];
      const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
      const urls = [basePath + path, ...(alias === undefined ? [] : [alias])];
      return urls.map((url): Route => ({ method: 'GET', url, transport: 'rest', handle }));
    }),
  );
}

type PayloadAnswer = Answer<string | Buffer>;

type Handler = (request: FastifyRequest, span: RequestSpan | undefined) => Promise<PayloadAnswer>;

function createHandler(operation: Operation, parts: RestParts): Handler {
  const answer = createAnswerer(operation, parts);
  const pathName = operation.pathParameter?.name;
  return (request, span) =>
    answer({
      admission: parts.gate.admit(authorizationOf(request.raw), request),
      pathText: pathName && (request.params as Record<string, string>)[pathName],
      query: request.query as Record<string, string>,
      requestId: request.id,
      span,
    });
}

/**
 * Asks an operation for an owner, as a request with the key would: within its scopes, tier and limit.
 * @param texts the parameters by their names in the operation's input
 * @returns what the request would be answered
 */
type AskWithKey = (
  operation: Operation,
  key: Caller,
  texts: Readonly<Record<string, string>>,
  requestId: string,
) => Promise<PayloadAnswer>;

export function createAskWithKey({ operations }: RestVersion, parts: RestParts): AskWithKey {
  const answers = new Map(operations.map((each) => [each, createAnswerer(each, parts)]));
  return async (operation, key, texts, requestId) => {
    const answer = answers.get(operation);
    if (!answer) throw new Error(`${operation.tool} is not in the catalogue.`);
    const inPath = operation.pathParameter?.input;
    return answer({
      admission: parts.gate.judge(key),
      pathText: inPath && texts[inPath],
      query: texts,
      requestId,
    });
  };
}

const asItIs = (text: string) => text;

interface RestRequest {
  readonly admission: Promise<Admission>;
  /** The parameter in the path, if the operation has one. */
  readonly pathText: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly span?: RequestSpan | undefined;
}

function createAnswerer(
  operation: Operation,
  parts: RestParts,
): (request: RestRequest) => Promise<PayloadAnswer> {
  const decode = createDecoder(operation);
  const { tool } = operation;

  return async ({ admission: admitted, pathText, query, requestId, span }) => {
    let rate: RateDecision | undefined;
    let facts: Facts | undefined;
    let call: Call | undefined;
    try {
      const admission = await admitted;
      const { caller } = admission;
      rate = admission.rate;
      call = caller && { key: caller, operation: tool };
      if ('refusal' in admission) return { ...renderRefusal(admission.refusal, rate), call };

      facts = { shopId: admission.caller.shopId, keyId: admission.caller.keyId, operation: tool };
      const input = decode(pathText, query);
      const payload = await invoke(
        operation,
        admission.caller,
        input,
        span ? { ...parts, span } : parts,
      );
      const headers = rate ? { ...privateJson, ...rateHeaders(rate) } : privateJson;
      return { status: 200, headers, body: payload.as(asItIs), facts, call };
    } catch (error) {
      if (error instanceof ServiceError) return { ...renderRefusal(error, rate), facts, call };
      parts.log.error({ requestId, ...facts, err: error }, 'request failed');
      return { ...internalError(rate), facts, call };
    }
  };
}
