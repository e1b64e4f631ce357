import { operations } from '../src/operations/index.ts';
import type { Operation } from '../src/operations/define.ts';
import { restV1 } from '../src/operations/versions.ts';
import type { Target } from './load.ts';
import { median } from './statistics.ts';
import type { Shop } from './world.ts';

export const faces = ['REST', 'MCP'] as const;
export type Face = (typeof faces)[number];

/** An operation and the values that its requests take in turn. */
export interface Work {
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

export const workNames = operations.map(({ tool }) => tool);

/** All operations, as they are asked for in a shop. */
export function worksOf({ customers, subscriptions }: Shop): Work[] {
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

/** The same operation, asked for in another shop. */
export function workIn(shop: Shop, { name }: Work): Work {
  return worksOf(shop).find((work) => work.name === name) as Work;
}

/** The load of one work. */
export function targetOf(
  work: Work,
  face: Face,
  ports: readonly number[],
  key: () => string,
): Target {
  return { ports, request: () => wireText(requestOf(work, face, key())) };
}

/** The load of many works over both faces, each as often as the others. */
export function mixtureOf(
  works: readonly Work[],
  ports: readonly number[],
  key: () => string,
): Target {
  return { ports, request: () => wireText(requestOf(oneOf(works), oneOf(faces), key())) };
}

/** Of several answers the one of median length, since some customers have nothing. */
export async function typicalAnswer(
  work: Work,
  face: Face,
  port: number,
  key: string,
): Promise<{ readonly body: string; readonly headers: Headers }> {
  const answers = await Promise.all(
    Array.from({ length: 15 }, async () => {
      const { method, path, headers, body = null } = requestOf(work, face, key);
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
      return { body: await answer.text(), headers: answer.headers };
    }),
  );
  const middle = median(answers.map(({ body }) => body.length));
  return answers.find(({ body }) => body.length === middle) as (typeof answers)[number];
}

function requestOf(work: Work, face: Face, key: string): HttpRequest {
  const authorization = `Bearer ${key}`;
  const { operation, varied } = work;
  const value = varied && integerFrom(varied.from, varied.to);
  if (face === 'REST') {
    const path = restV1.basePath + pathOf(work, value);
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

function pathOf({ operation: { path, pathParameter }, varied }: Work, value?: number): string {
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

function oneOf<T>(list: readonly T[]): T {
  return list[integerFrom(0, list.length - 1)] as T;
}
