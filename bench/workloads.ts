import { operations } from '../src/operations/index.ts';
import type { Operation } from '../src/operations/define.ts';
import { restV1 } from '../src/operations/versions.ts';
import type { Target } from './load.ts';
import { median } from './statistics.ts';
import type { Shop } from './world.ts';

export const transports = ['REST', 'MCP'] as const;
export type Transport = (typeof transports)[number];

/** An operation to request, with an argument that varies by request. */
export interface Workload {
  readonly name: string;
  readonly operation: Operation;
  readonly varied: Varied | undefined;
}

/** An argument that is any integer of a range, both ends included. */
interface Varied {
  readonly argument: string;
  readonly from: number;
  readonly to: number;
}

interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export const workloadNames = operations.map(({ tool }) => tool);

/** All operations, for requests to one shop. */
export function workloadsOf({ customers, subscriptions }: Shop): Workload[] {
  const varied: Record<string, Varied> = {
    get_entitlements: { argument: 'customerId', ...customers },
    get_subscription: { argument: 'subscriptionId', ...subscriptions },
  };
  return operations.map((operation) => ({
    name: operation.tool,
    operation,
    varied: varied[operation.tool],
  }));
}

/** The same operation in another shop. */
export function workloadIn(shop: Shop, { name }: Workload): Workload {
  return workloadsOf(shop).find((workload) => workload.name === name) as Workload;
}

/** A load of one operation. */
export function targetOf(
  workload: Workload,
  transport: Transport,
  ports: readonly number[],
  key: () => string,
): Target {
  return { ports, request: () => wireText(requestOf(workload, transport, key())) };
}

/** A load of many operations over both transports, each as often as the others. */
export function mixtureOf(
  workloads: readonly Workload[],
  ports: readonly number[],
  key: () => string,
): Target {
  return { ports, request: () => wireText(requestOf(oneOf(workloads), oneOf(transports), key())) };
}

/** The answer of median length among several, because some customers have nothing. */
export async function typicalAnswer(
  workload: Workload,
  transport: Transport,
  port: number,
  key: string,
): Promise<{ readonly body: string; readonly headers: Headers }> {
  const answers = await Promise.all(
    Array.from({ length: 15 }, async () => {
      const { method, path, headers, body = null } = requestOf(workload, transport, key);
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
      return { body: await answer.text(), headers: answer.headers };
    }),
  );
  const middle = median(answers.map(({ body }) => body.length));
  return answers.find(({ body }) => body.length === middle) as (typeof answers)[number];
}

function requestOf(workload: Workload, transport: Transport, key: string): HttpRequest {
  const authorization = `Bearer ${key}`;
  const { operation, varied } = workload;
  const value = varied && integerFrom(varied.from, varied.to);
  if (transport === 'REST') {
    const path = restV1.basePath + pathOf(workload, value);
    return { method: 'GET', path, headers: { authorization } };
  }
  const params = { name: operation.tool, arguments: varied ? { [varied.argument]: value } : {} };
  return {
    method: 'POST',
    path: '/api/mcp',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
}

function pathOf({ operation: { path, pathParameter }, varied }: Workload, value?: number): string {
  if (!varied) return path;
  return pathParameter
    ? path.replace(`{${pathParameter.name}}`, String(value))
    : `${path}?${varied.argument}=${value}`;
}

function wireText({ method, path, headers, body }: HttpRequest): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  return body === undefined
    ? `${head}\r\n`
    : `${head}content-length: ${body.length}\r\n\r\n${body}`;
}

function integerFrom(from: number, to: number): number {
  return from + Math.floor(Math.random() * (to - from + 1));
}

export function oneOf<T>(list: readonly T[]): T {
  return list[integerFrom(0, list.length - 1)] as T;
}
