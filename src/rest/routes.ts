import type { FastifyRequest } from 'fastify';
import type { Gate } from '../access/gate.ts';
import type { RateDecision } from '../access/limiter/rate-limiter.ts';
import { ServiceError } from '../errors.ts';
import {
  type Answer,
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

type Handler = (request: FastifyRequest, span: RequestSpan | undefined) => Promise<Answer>;

function createHandler(operation: Operation, parts: RestParts): Handler {
  const decode = createDecoder(operation);
  const pathName = operation.pathParameter?.name;

  return async (request, span) => {
    let rate: RateDecision | undefined;
    let facts: Facts | undefined;
    try {
      const admission = await parts.gate.admit(authorizationOf(request.raw), request);
      rate = admission.rate;
      if ('refusal' in admission) return renderRefusal(admission.refusal, rate);

      const { caller } = admission;
      facts = { shopId: caller.shopId, keyId: caller.keyId, operation: operation.tool };
      const pathText = pathName && (request.params as Record<string, string>)[pathName];
      const input = decode(pathText, request.query as Record<string, string>);
      const body = await invoke(operation, caller, input, span ? { ...parts, span } : parts);
      const headers = rate ? { ...privateJson, ...rateHeaders(rate) } : privateJson;
      return { status: 200, headers, body, facts };
    } catch (error) {
      if (error instanceof ServiceError) return { ...renderRefusal(error, rate), facts };
      parts.log.error({ requestId: request.id, ...facts, err: error }, 'request failed');
      return { ...internalError(rate), facts };
    }
  };
}
