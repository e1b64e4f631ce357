import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Clock, systemClock } from '../../src/clock.ts';
import { createSecret } from '../../src/access/secrets.ts';
import { pushSources, secretSealing } from '../../src/push/sources.ts';
import type { Log } from '../../src/log/log.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { until } from '../support/until.ts';
import {
  type ShopOptions,
  type TestShop,
  createShop,
  silentLog,
  startTestService,
} from '../support/world.ts';

export const credentialsKeys = [randomBytes(32)];
export const sealing = secretSealing(credentialsKeys);

export interface TestSource {
  readonly sourceId: string;
  readonly secret: string;
}

export async function createSource(store: Store, shop: Pick<TestShop, 'id'>): Promise<TestSource> {
  const parts = { sql: store.write, clock: systemClock, log: silentLog };
  const sourceId = pushSources.newId();
  const target = { shopId: shop.id, id: sourceId, actor: { who: 'command line' } };
  const created = await createSecret(pushSources, parts, target, { name: 'Test', sealing });
  if (created.kind !== 'created') throw new Error(created.kind);
  return { sourceId, secret: created.secret };
}

export interface SendOptions {
  readonly id?: string;
  /** When it is signed; now by default. */
  readonly at?: Date;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** The headers of Standard Webhooks, made by its own library. */
export function signed(
  { secret }: Pick<TestSource, 'secret'>,
  body: string,
  { id = randomUUID(), at = new Date(), ...options }: SendOptions = {},
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(options.secret ?? secret).sign(id, at, body),
    ...options.headers,
  };
}

export interface PushAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly batchId: string; readonly message?: string };
}

/** Pushes records as NDJSON, or a body as it is. */
export async function push(
  baseUrl: string,
  source: TestSource,
  records: readonly object[] | string,
  options: SendOptions = {},
): Promise<PushAnswer> {
  const body =
    typeof records === 'string' ? records : records.map((each) => JSON.stringify(each)).join('\n');
  const response = await fetch(
    `${baseUrl}/ingest/v1/${source.sourceId}/${options.path ?? 'records'}`,
    { method: 'POST', headers: signed(source, body, options), body },
  );
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as PushAnswer['body'] };
}

/** The same as a sender does it: again while the answer is 503, as it is while a busy machine opens the job queue. */
export function deliver(
  baseUrl: string,
  source: TestSource,
  records: readonly object[] | string,
  options: SendOptions = {},
): Promise<PushAnswer> {
  const sending = { id: randomUUID(), ...options };
  return until(
    () => push(baseUrl, source, records, sending),
    ({ status }) => status !== 503,
  );
}

export interface BatchAnswer {
  readonly batchId: string;
  readonly status: 'queued' | 'working' | 'done' | 'failed';
  readonly outcomes: Readonly<Record<string, number>>;
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
}

export async function readBatch(
  baseUrl: string,
  source: TestSource,
  batchId: string,
): Promise<BatchAnswer> {
  const url = `${baseUrl}/ingest/v1/${source.sourceId}/batches/${batchId}`;
  const response = await fetch(url, { headers: signed(source, '') });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as BatchAnswer;
}

export function finished(
  baseUrl: string,
  source: TestSource,
  batchId: string,
  limit?: { readonly minutes: number },
) {
  return until(
    () => readBatch(baseUrl, source, batchId),
    ({ status }) => status === 'done' || status === 'failed',
    limit,
  );
}

/** A service with a push source, and its shop. */
export async function startPushWorld(
  store: Store,
  { clock = systemClock, log, ...options }: ShopOptions & { clock?: Clock; log?: Log } = {},
) {
  const shop = await createShop(store, options);
  const source = await createSource(store, shop);
  const service: Service = await startTestService(store, {
    clock,
    credentialsKeys,
    telemetry: { metricsPort: 0 },
    ...(log && { log }),
  });
  const { baseUrl } = service;
  return {
    store,
    shop,
    source,
    service,
    baseUrl,
    push: (records: readonly object[] | string, sending?: SendOptions) =>
      deliver(baseUrl, source, records, sending),
    finished: (batchId: string) => finished(baseUrl, source, batchId),
    read: (batchId: string) => readBatch(baseUrl, source, batchId),
    close: () => service.close(),
  };
}

export type PushWorld = Awaited<ReturnType<typeof startPushWorld>>;
