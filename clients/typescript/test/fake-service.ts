import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Retention, type RetentionOptions } from '../src/index.ts';
import type { Shape } from '../src/shape.ts';
import { shapes } from '../src/shapes.ts';
import type { EntitlementEntry } from '../src/types.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** What may go wrong on the way, besides refusals. */
export const troubles: Readonly<Record<string, Answer>> = {
  'closes the connection': (request) => void request.socket.destroy(),
  'never answers': () => {},
  'announces more than it sends': (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"subscriptions":[');
    setTimeout(() => response.destroy(), 5);
  },
  'sends half of the JSON': (_request, response) => void response.end('{"subscriptions":['),
  'stops in the middle': (_request, response) => void response.write('{"subscriptions"'),
  'sends a page of a proxy': (_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' });
    response.end('<h1>Bad gateway</h1>');
  },
  'sends a page of something else': (_request, response) => void response.end('<h1>Welcome</h1>'),
  'sends JSON of something else': json({ status: 'ok' }),
  'answers 500': json({ success: false, message: 'Internal server error.' }, 500),
};

/** A service on a free port that gives one prepared answer after the other, and the last one from then on. */
export async function startFakeService(...answers: readonly Answer[]) {
  const requests: { url: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push({ url: request.url ?? '', headers: request.headers });
    answer?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    requests,
    baseUrl,
    client: (options: Partial<RetentionOptions> = {}) =>
      new Retention({
        baseUrl,
        key: 'rtn_test',
        timeoutMs: 60_000,
        deadlineMs: Infinity,
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const values: Readonly<Record<string, unknown>> = {
  'a whole number': 12,
  'a number': 12.5,
  'a text': 'active',
  'a boolean': true,
  'a time': '2026-11-23T15:00:00.000Z',
};

/** A value of a shape; null where that is allowed. */
function sample(shape: Shape): unknown {
  if (typeof shape === 'string') return values[shape] ?? null;
  if (Array.isArray(shape)) return shape.map(sample);
  return Object.fromEntries(
    Object.entries(shape).map(([name, inner]) => [name, inner && sample(inner)]),
  );
}

const first = (shape: readonly Shape[]) =>
  shape.map(sample)[0] as Readonly<Record<string, unknown>>;

/** The entries that the service answers. */
export const entry = first(shapes.getEntitlements.subscriptions) as unknown as EntitlementEntry;
export const subscription = first(shapes.listSubscriptions.subscriptions);
export const session = first(shapes.listCancellations.cancellations);
export const plan = first(shapes.listPlans.plans);
export const [detail, summary] = [
  sample(shapes.getSubscription.subscription),
  sample(shapes.getMetricsSummary.summary),
];
