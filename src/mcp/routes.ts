import { setImmediate as nextStep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Caller, Gate } from '../access/gate.ts';
import type { RateDecision } from '../access/limiter/rate-limiter.ts';
import {
  type Answer,
  type Call,
  type Facts,
  internalError,
  json,
  privateJson,
  rateHeaders,
  refuse,
  renderRefusal,
} from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { authorizationOf } from '../http/headers.ts';
import type { Route } from '../http/shell.ts';
import type { Log } from '../log/log.ts';
import type { InvokeParts } from '../operations/invoke.ts';
import { type Classified, type MessageId, type Revision, classify } from './classify.ts';
import { isObject } from '../json.ts';
import { type Rejection, parseMessage, rejectionStatus, rejections } from './message.ts';
import { beginnings, methods } from './methods.ts';
import { isToolName } from './tools.ts';

/** Other requests get their turn while a larger message is answered. */
const largeBytes = 64 * 1024;

export interface McpParts extends InvokeParts {
  readonly gate: Gate;
  readonly log: Log;
  /** The origins that may call from a browser: the service's own. */
  ownOrigins(): ReadonlySet<string>;
}

/** One endpoint, POST only; the shell responds 405 to any other method. */
export function mcpRoutes(parts: McpParts): Route[] {
  return [
    {
      method: 'POST',
      url: '/api/mcp',
      transport: 'mcp',
      handle: (request, span) => handle(request, span ? { ...parts, span } : parts),
    },
  ];
}

/** Lets timers and other connections go first. The first step only ends the turn of the event loop that is under way. */
async function othersTurn(): Promise<void> {
  await nextStep();
  await nextStep();
}

type MessageAnswer = Answer<string | Buffer>;

async function handle(request: FastifyRequest, parts: McpParts): Promise<MessageAnswer> {
  const refusal = refuseByHeaders(request, parts);
  if (refusal) return refusal;
  let facts: Facts | undefined;
  let rate: RateDecision | undefined;
  let key: Caller | undefined;
  const called = (): Call | undefined =>
    key && { key, operation: facts?.operation ?? facts?.mcp ?? announced(request) };
  try {
    const admission = await parts.gate.admit(authorizationOf(request.raw), request);
    rate = admission.rate;
    key = admission.caller;
    if ('refusal' in admission) {
      return { ...renderRefusal(admission.refusal, rate), call: called() };
    }
    const { caller } = admission;
    facts = { shopId: caller.shopId, keyId: caller.keyId };

    const body = await readBody(request);
    let answer: MessageAnswer;
    if ('refusal' in body) {
      answer = body.refusal;
    } else {
      const message = parseMessage(body.bytes);
      // Parsing it took long enough; what follows may take half as long again.
      if (body.bytes.length > largeBytes) await othersTurn();
      const classified = classify(mirrorHeaders(request), message);
      facts = factsOf(classified, caller);
      answer = await answerMessage(classified, caller, parts);
    }
    return { ...answer, headers: callerHeaders(answer, rate), facts, call: called() };
  } catch (error) {
    parts.log.error({ requestId: request.id, ...facts, err: error }, 'request failed');
    return { ...internalError(rate), facts, call: called() };
  }
}

/** Refuses requests by their headers, before checking the key. */
function refuseByHeaders({ headers }: FastifyRequest, parts: McpParts): Answer | undefined {
  const { origin, 'content-encoding': encoding } = headers;
  // Pages of other origins must not reach a server on the user's machine (DNS rebinding).
  if (origin !== undefined && !parts.ownOrigins().has(origin)) {
    return refuse(403, 'Requests from this origin are not allowed.');
  }
  const codings = encoding?.split(',').map((coding) => coding.trim().toLowerCase());
  // Empty list elements are ignored (RFC 9110 section 5.6.1.2).
  if (codings?.some((coding) => coding !== '' && coding !== 'identity')) {
    return refuse(415, 'The request body must not be encoded: leave Content-Encoding out.', {
      'accept-encoding': 'identity',
    });
  }
  return undefined;
}

/** The headers of an answer to an admitted caller. */
function callerHeaders({ headers }: MessageAnswer, rate: RateDecision | undefined) {
  return { ...headers, 'cache-control': privateJson['cache-control'], ...rateHeaders(rate) };
}

function mirrorHeaders({ headers }: FastifyRequest) {
  return {
    version: headerText(headers['mcp-protocol-version']),
    method: headerText(headers['mcp-method']),
    name: headerText(headers['mcp-name']),
  };
}

/** What a request that is refused before its message is read was for, if its headers say so. */
function announced(request: FastifyRequest): string {
  const { method = '', name } = mirrorHeaders(request);
  if (method === 'tools/call' && isToolName(name)) return name;
  const isMethod = Object.values(methods).some((known) => known.has(method));
  return isMethod ? method : 'message not read';
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

async function answerMessage(
  classified: Classified,
  caller: Caller,
  parts: InvokeParts,
): Promise<MessageAnswer> {
  if (classified.kind === 'ignored') {
    return { status: 202, headers: {}, body: '' };
  }
  if (classified.kind === 'rejected') {
    const { revision, id, rejection, detail, data } = classified;
    return reject(
      revision,
      id,
      rejection,
      detail && `${rejections[rejection].message}: ${detail}`,
      data,
    );
  }

  const { revision, id, method, params = {} } = classified;
  const run = methods[revision].get(method);
  if (!run) return reject(revision, id, 'methodNotFound');
  if (!isObject(params)) return reject(revision, id, 'invalidParams');
  const { store, clock, span } = parts;
  const outcome = await run({ caller, params, store, clock, span });
  if ('invalidParams' in outcome)
    return reject(revision, id, 'invalidParams', outcome.invalidParams);

  const { rest } = outcome;
  const start = `{"jsonrpc":"2.0","id":${id},"result":${beginnings[revision]}`;
  return typeof rest === 'string'
    ? { status: 200, headers: json, body: start + rest }
    : { status: 200, headers: json, start, body: rest };
}

function reject(
  revision: Revision,
  id: MessageId | null,
  rejection: Rejection,
  message: string = rejections[rejection].message,
  data?: unknown,
): Answer {
  const error = { code: rejections[rejection].code, message, ...(data !== undefined && { data }) };
  return {
    status: rejectionStatus[rejection][revision],
    headers: json,
    body: `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`,
  };
}

/** The log fields of a message: never its arguments, and only known method and tool names. */
function factsOf(classified: Classified, { shopId, keyId }: Caller): Facts {
  if (classified.kind !== 'request') {
    return {
      shopId,
      keyId,
      // In words, because the pages of requests and usage show it.
      mcp:
        classified.kind === 'rejected'
          ? rejections[classified.rejection].message.toLowerCase()
          : 'ignored',
    };
  }
  const { revision, method: mcp, params } = classified;
  if (!methods[revision].has(mcp)) return { shopId, keyId, revision, mcp: 'unknown method' };
  const operation = mcp === 'tools/call' && isObject(params) ? params['name'] : undefined;
  return isToolName(operation)
    ? { shopId, keyId, revision, mcp, operation }
    : { shopId, keyId, revision, mcp };
}
