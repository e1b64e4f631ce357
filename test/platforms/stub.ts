import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LineSource } from '../../src/ingest/import.ts';
import { lineOf } from '../../src/ingest/lines.ts';
import { PlatformError } from '../../src/platforms/errors.ts';
import { type Intake, storeRecords, totalsOf } from '../../src/platforms/intake.ts';
import type { Connection, Platform, PlatformCode } from '../../src/platforms/platform.ts';
import type { WebhookContext, Webhooks } from '../../src/platforms/webhooks/webhooks.ts';
import { idOf } from '../../src/platforms/webhooks/queue.ts';

/*
 * A minimal platform. It serves subscriptions as import records, at `GET /subscriptions` and
 * `GET /subscriptions/ID`; each of its webhooks names one that has changed.
 */
export const stub: Platform = {
  name: 'stub',
  title: 'Stub',
  settings: {
    name: 'stub',
    credentialsFile: 'STUB_CREDENTIALS_FILE',
    webhookSecrets: { variable: 'STUB_SECRET', expected: 'a secret of 16 characters or more' },
  },
  examples: [],
  accountOf: ({ url }) => String(url),
  credentialFields: {
    url: { expected: 'an address', isUnique: true, fits: (value) => URL.canParse(String(value)) },
  },
  webhooks: {
    queues: { hints: 'stub-hints', duties: 'stub-duties' },
    open: openWebhooks,
  },
  openFiles: async () => readFiles,
  findBelonging: async () => undefined,
  sourceIdOf: () => undefined,
  load: async () => code,
};

const code: PlatformCode = {
  connect: ({ account }, { signal }) => connect(account, signal),
  verify: async () => {},
};

async function* readFiles(files: readonly LineSource[]) {
  for (const { lines } of files) yield* lines;
}

async function openWebhooks(context: WebhookContext): Promise<Webhooks> {
  const { secrets, findConnected, queue, queues, clock } = context;
  return {
    readClaim(headers) {
      const given = headers['stub-signature'];
      if (typeof given !== 'string') return undefined;
      const sent = Buffer.from(given);
      return {
        account: '',
        isSigned: (body) =>
          secrets.some((secret) => {
            const right = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'));
            return sent.length === right.length && timingSafeEqual(sent, right);
          }),
      };
    },
    async handle({ body }) {
      const { url, event, id } = JSON.parse(body.toString());
      const shopId = typeof url === 'string' ? await findConnected(url) : undefined;
      if (shopId === undefined || !Number.isSafeInteger(id)) return 'malformed';
      const receivedAt = new Date(clock.now()).toISOString();
      const job = {
        kind: 'subscription',
        id,
        shopId,
        topic: 'changed',
        event: idOf(event),
        receivedAt,
      };
      await queue.send(queues.hints, job, `${shopId} ${id}`);
      return 'accepted';
    },
    doDuty: async () => {},
  };
}

function connect(url: string, signal: AbortSignal | undefined): Connection {
  let requests = 0;
  const get = async (path: string): Promise<object[]> => {
    requests += 1;
    const response = await fetch(url + path, signal ? { signal } : {});
    if (response.status === 404) return [];
    if (!response.ok)
      throw new PlatformError('unavailable', `The stub answered ${response.status}.`);
    return (await response.json()) as object[];
  };
  const take = (intake: Intake, records: readonly object[]) =>
    storeRecords(
      intake,
      url,
      (async function* () {
        yield records.map((value, index) => lineOf(index + 1, value));
      })(),
    );
  return {
    account: url,
    usage: () => ({ requests }),
    async sync(intake) {
      const records = await get('/subscriptions');
      const counts = await take(intake, records);
      const read = { records: records.length };
      return { kind: 'whole', read, ...totalsOf(counts) };
    },
    async follow(intake, { id }) {
      return totalsOf(await take(intake, await get(`/subscriptions/${id}`))).refused;
    },
  };
}
