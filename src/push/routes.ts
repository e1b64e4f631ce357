import type { FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/client-network.ts';
import { tiers } from '../access/tiers.ts';
import type { Clock } from '../clock.ts';
import { CommandError } from '../errors.ts';
import { type Answer, privateJson, refuse } from '../http/answer.ts';
import type { Body } from '../http/body.ts';
import type { Route } from '../http/shell.ts';
import { UnverifiedBodies } from '../http/unverified-bodies.ts';
import type { Log } from '../log/log.ts';
import type { Sealing } from '../platforms/credentials/sealing.ts';
import type { JobQueue } from '../platforms/webhooks/queue.ts';
import { refusals } from '../refusals.ts';
import type { Sql } from '../store/database.ts';
import { findBatch, listShopsWithOpenBatches } from '../store/push/batches.ts';
import { type PushSource, findPushSource } from '../store/push/sources.ts';
import { LookupAllowance } from '../store/keys/secret-lookups.ts';
import { type Shop, findShop } from '../store/shops.ts';
import { within } from '../time-limit.ts';
import { acceptRecords, hasShare, maxQueueUse, tooBusy } from './accept.ts';
import { acceptHints } from './hints.ts';
import { describeBatch } from './outcomes.ts';
import { findMapping } from './mappings.ts';
import {
  type Scheme,
  isSchemeName,
  schemes,
  isSigned,
  mayBeSigned,
  readClaim,
} from './signature.ts';
import { pushSources, secretsOf, resealSources } from './sources.ts';
import type { Store } from '../store/open.ts';
import { createPushWorker, pushQueue, sendPushJob } from './store-batches.ts';

const maxBytes = 1024 * 1024;
/** All bodies that are not verified yet, per instance. */
const maxUnverifiedBytes = 16 * 1024 * 1024;
/** Verified requests per instance that wait for the database, of which a shop has a share. */
const maxWaiting = 50;
const timeoutMilliseconds = 10_000;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The same for every cause. */
const unauthorized = () => refuse(401, refusals.unauthenticated.text(''), privateJson);
const tierRequired = () =>
  refuse(refusals.tierRequired.status, refusals.tierRequired.text(''), privateJson);
/** A message that was copied could mean something else to another mapping. */
const sentElsewhere = (mapping: string) =>
  refuse(
    400,
    `This source sends a vendor's webhooks; send them to mapped/${mapping}.`,
    privateJson,
  );
const unavailable = () => refuse(503, 'Try again later.', { ...privateJson, 'retry-after': '60' });

interface PushParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly sealing: Sealing;
  readonly queue: JobQueue;
  /** Overridden only by tests. */
  readonly findMapping?: typeof findMapping;
}

interface Admitted {
  readonly source: PushSource;
  readonly shop: Shop;
  /** The only mapping that the source may send to; undefined for a program's own source. */
  readonly boundTo: string | undefined;
  /** The platform whose events it sends. */
  readonly platform: string | undefined;
  /** The sender's id of the request; undefined if it sends none. */
  readonly id: string | undefined;
  readonly body: Buffer;
}

/** The routes for records that a shop's own programs push, signed by the scheme of Standard Webhooks. */
function pushRoutes(parts: PushParts): Route[] {
  const { sql, clock, log, sealing } = parts;
  const allowance = new LookupAllowance(clock);
  const bodies = new UnverifiedBodies({
    // Senders name many types for NDJSON; the signature says that it is meant.
    contentType: undefined,
    maxBytes,
    totalBytes: maxUnverifiedBytes,
    hasSecretNames: true,
    refuse: tooBusy,
  });
  /** The shop of each. */
  const waiting: number[] = [];

  const find = async (request: FastifyRequest): Promise<PushSource | undefined> => {
    const { sourceId = '' } = request.params as Record<string, string>;
    if (!pushSources.isId(sourceId)) return undefined;
    const client = clientNetwork(request.ip);
    if (allowance.isUsedUp(client) && !bodies.trusts(request, sourceId)) return undefined;
    const source = await findPushSource(sql, sourceId);
    if (!source) allowance.charge(client);
    return source;
  };

  /** @returns undefined if it is not signed */
  const receive = async (
    request: FastifyRequest,
    { sourceId }: PushSource,
    check: (body: Buffer) => boolean,
  ): Promise<Body | undefined> => {
    if (request.method === 'POST') return bodies.read(request, sourceId, check);
    const bytes = Buffer.alloc(0);
    return check(bytes) ? { bytes } : undefined;
  };

  /** Checks who sends, and whether their shop may. */
  const admit = async (
    request: FastifyRequest,
  ): Promise<Admitted | { readonly refusal: Answer }> => {
    if (!mayBeSigned(request.headers)) return { refusal: unauthorized() };
    const source = await within(timeoutMilliseconds, find(request));
    // Without receiving the body. A caller can tell by the time which ids exist, but cannot guess one.
    if (!source) return { refusal: unauthorized() };
    const { secrets, problem } = secretsOf(source, sealing, clock.now());
    if (!isSchemeName(source.scheme)) throw new Error(`There is no scheme ${source.scheme}.`);
    const scheme: Scheme = schemes[source.scheme];
    const claim = readClaim(request.headers, clock, scheme);
    if (!claim) return { refusal: unauthorized() };
    if (secrets.length === 0) {
      if (problem !== undefined) throw problem;
      return { refusal: unauthorized() };
    }
    const body = await receive(request, source, (bytes) => isSigned(claim, secrets, bytes));
    if (body && 'refusal' in body) return body;
    // It may be signed with the secret that cannot be decrypted; then it is to be sent again.
    if (!body && problem !== undefined) throw problem;
    const shop = body && (await within(timeoutMilliseconds, findShop(sql, source.shopId)));
    if (!shop) return { refusal: unauthorized() };
    if (!tiers[shop.tier].hasApiAccess) return { refusal: tierRequired() };
    const { mapping: boundTo, platform } = scheme;
    return { source, shop, boundTo, platform, id: claim.id, body: body.bytes };
  };

  const answer =
    (handle: (admitted: Admitted, request: FastifyRequest) => Promise<Answer>) =>
    async (request: FastifyRequest): Promise<Answer> => {
      try {
        const admitted = await admit(request);
        if ('refusal' in admitted) return admitted.refusal;
        const { id: shopId } = admitted.shop;
        const own = waiting.filter((each) => each === shopId).length;
        // Not before: a sender without a secret could take all places by sending slowly.
        if (!hasShare(own, waiting.length, maxWaiting)) return tooBusy();
        waiting.push(shopId);
        try {
          // After the timeout, work continues; a repeated request is then recognised.
          const work = handle(admitted, request);
          work.catch(() => {});
          const result = await within(timeoutMilliseconds, work);
          return { ...result, facts: { shopId } };
        } finally {
          waiting.splice(waiting.indexOf(shopId), 1);
        }
      } catch (err) {
        const reason = err instanceof CommandError ? err.message : undefined;
        log.error(
          { requestId: request.id, ...(reason === undefined ? { err } : { reason }) },
          'pushed request failed',
        );
        return unavailable();
      }
    };

  return [
    {
      method: 'POST',
      url: '/ingest/v1/:sourceId/records',
      handle: answer(async (admitted) =>
        admitted.boundTo === undefined
          ? acceptRecords(admitted, parts)
          : sentElsewhere(admitted.boundTo),
      ),
    },
    {
      method: 'POST',
      url: '/ingest/v1/:sourceId/mapped/:mapping',
      handle: answer(async (admitted, request) => {
        const { mapping: name = '' } = request.params as Record<string, string>;
        const { boundTo, platform, shop, body } = admitted;
        if (boundTo !== undefined && name !== boundTo) return sentElsewhere(boundTo);
        const hinted = platform && (await acceptHints(platform, { shopId: shop.id, body }, parts));
        if (hinted) return hinted;
        const rules = await (parts.findMapping ?? findMapping)(name);
        if (!rules) return refuse(404, 'Mapping not found.', privateJson);
        const delivery = { ...admitted, mapping: { name, rules } };
        return acceptRecords(delivery, parts);
      }),
    },
    {
      method: 'GET',
      url: '/ingest/v1/:sourceId/batches/:batchId',
      handle: answer(async ({ source: { shopId, sourceId } }, request) => {
        const { batchId = '' } = request.params as Record<string, string>;
        const batch = uuid.test(batchId)
          ? await findBatch(sql, { shopId, sourceId, batchId })
          : undefined;
        if (!batch) return refuse(404, 'Batch not found.', privateJson);
        const body = JSON.stringify(describeBatch(batchId, batch));
        return { status: 200, headers: privateJson, body };
      }),
    },
  ];
}

/** Receives pushed records, and stores them. Every instance does both. */
export function startPush({ store, ...parts }: Omit<PushParts, 'sql'> & { readonly store: Store }) {
  const { clock, log, sealing, queue } = parts;
  const sql = store.write;
  let refusedRecords = 0;
  const countRefused = (records: number) => void (refusedRecords += records);
  const worker = createPushWorker({ sql: store.jobs, queue, clock, log, countRefused });
  // One at a time: a second one would only wait for the first one's lock whenever both have the same shop.
  queue.work(pushQueue, 'hints', worker, 1);
  // Jobs of the version before, which had one for each source.
  queue.work('push', 'hints', worker, 1);
  return {
    routes: pushRoutes({ ...parts, sql }),
    /** Encrypts secrets that are plain, or were encrypted with an older key. */
    async reseal() {
      const count = await resealSources(sql, sealing);
      if (count > 0) log.info({ sources: count }, 'secrets of push sources encrypted anew');
    },
    /** How many pushed records this process has refused. */
    refusedRecords: () => refusedRecords,
    maxQueueUse,
    /** Has the batches of earlier processes stored. To be called once the queue is open. */
    async resume() {
      // The jobs of a process that died are taken over later than these.
      for (const shopId of await listShopsWithOpenBatches(sql)) {
        await sendPushJob({ queue, clock }, shopId);
      }
    },
  };
}
