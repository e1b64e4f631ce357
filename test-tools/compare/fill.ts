import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { world } from '../../test/model/worlds.ts';
import { fieldsOf } from './crawl.ts';
import { findForm, sampleFile } from './forms.ts';
import { base, bearer } from './rest.ts';
import { type Version, askedAt } from './version.ts';
import { type Field, Visitor } from './visitor.ts';

export const golden = readFileSync(
  new URL('../../test/golden/records.ndjson', import.meta.url),
  'utf8',
);
export const owner = { email: 'owner@example.com', password: 'correct horse battery' };
export const scopes = ['read:entitlements', 'read:subscriptions', 'read:metrics', 'read:plans'];

export interface FilledShop {
  readonly id: number;
  readonly name: string;
  readonly currency: string;
  readonly tier: string;
  /** Whether requests with its key are refused, or soon will be. */
  readonly isLimited?: boolean;
  /** The files that are imported, one after the other. */
  readonly files: readonly string[];
}

const worlds = fc.sample(world, { seed: 20_261_120, numRuns: 20 });
/** The first shops of random worlds, one of each currency, with one file for each run of the import. */
export const randomShops = [...new Map(worlds.map((each) => [each.currency, each])).values()].map(
  ({ currency, shops: [runs] }, index): FilledShop => ({
    id: 103 + index,
    name: `Random ${index + 1}`,
    currency,
    tier: 'pro',
    files: runs?.map((records) => records.map((each) => JSON.stringify(each)).join('\n')) ?? [],
  }),
);

interface Source {
  readonly sourceId: string;
  readonly secret: string;
}

export interface Filled {
  /** The golden shop first. */
  readonly shops: readonly FilledShop[];
  /** A key with all scopes of each shop, by its id. */
  readonly keys: ReadonlyMap<number, string>;
  /** Of the golden shop: keys with one scope each, and some that are refused. */
  readonly otherKeys: Readonly<Record<string, string>>;
  /** May push records into the golden shop. */
  readonly source: Source;
  /** A browser in which the owner of all shops is signed in. */
  readonly visitor: Visitor;
}

/** Fills the version's empty database, by its commands and pages alone. */
export async function fillDatabase(version: Version): Promise<Filled> {
  // A minute later each, so that all that is created has a time of its own.
  let time = Date.parse('2026-11-18T09:00:00.000Z');
  const result = <T>(...args: readonly string[]) => {
    time += 60_000;
    return version.result<T>(args, { at: new Date(time).toISOString() });
  };
  const createKey = (id: number, name: string, ...options: readonly string[]) => {
    const about = ['--shop', String(id), '--name', name];
    return result<{ id: string; key: string }>('keys', 'create', ...about, '--scopes', ...options);
  };

  await result('migrate');
  const demo = ['demo-data', '--subscriptions', '160', '--seed', '7', '--until', askedAt];
  const { out } = await version.run(demo);
  const shops: readonly FilledShop[] = [
    { id: 101, name: 'Golden', currency: 'USD', tier: 'enterprise_plus', files: [golden] },
    { id: 102, name: 'Demo', currency: 'USD', tier: 'pro', files: [out] },
    ...randomShops,
    { id: 106, name: 'Empty & <new>', currency: 'JPY', tier: 'free', isLimited: true, files: [] },
    { id: 107, name: 'Limited', currency: 'EUR', tier: 'growth', isLimited: true, files: [golden] },
  ];
  const keys = new Map<number, string>();
  const fillShop = async ({ id, name, currency, tier, files }: FilledShop) => {
    const about = ['--name', name, '--currency', currency];
    await result('shops', 'create', '--id', String(id), ...about);
    for (const input of files)
      await version.result(['import', '--shop', String(id), '-'], { input });
    keys.set(id, (await createKey(id, 'All', scopes.join(','))).key);
    await result('shops', 'set-tier', String(id), tier);
  };
  await Promise.all(shops.map(fillShop));

  const otherKeys: Record<string, string> = {};
  for (const scope of scopes) otherKeys[scope] = (await createKey(101, `Only ${scope}`, scope)).key;
  otherKeys['expired'] = (await createKey(101, 'Expired', 'read:plans', '--expires-in', '24h')).key;
  const revoked = await createKey(101, 'Revoked', scopes.join(','));
  await result('keys', 'revoke', '--shop', '101', revoked.id);
  otherKeys['revoked'] = revoked.key;
  const source = await result<Source>('ingest', 'create', '--shop', '101', '--name', 'Pushes');
  const ended = await result<Source>('ingest', 'create', '--shop', '101', '--name', 'Ended');
  await result('ingest', 'revoke', '--shop', '101', ended.sourceId);

  const at = '2026-11-20T09:00:00.000Z';
  const server = await version.serve({ at, env: { COMPARE_RUNS: '1' } });
  try {
    const visitor = new Visitor(server.port);
    for (const { id } of shops) {
      const args = ['owners', 'invite', '--shop', String(id), '--email', owner.email];
      const { url } = await version.result<{ url: string }>(args, { at });
      await sendFirst(visitor, new URL(url).pathname, 'links', [['password', owner.password]]);
    }
    for (const id of [101, 102]) await useShop(visitor, `/app/shops/${id}`);
    for (const key of [keys.get(101), keys.get(102), otherKeys['read:plans']]) {
      for (const path of [
        'plans',
        'subscriptions?limit=3',
        'metrics/summary',
        'cancellations?limit=0',
      ]) {
        await visitor.send(`${base}/${path}`, { headers: bearer(key) });
      }
    }
    await push(visitor, source, golden.split('\n').slice(0, 9).join('\n'), at);
    await push(visitor, source, '{"type":"plan","id":0}\n', at);
    visitor.close();
    return { shops, keys, otherKeys, source, visitor };
  } finally {
    // It also stores what it knows of the requests.
    await server.stop();
  }
}

/** What owners store beside keys: segments, what they are told by mail, and a file. */
async function useShop(visitor: Visitor, shop: string): Promise<void> {
  for (const query of ['interval=month-1', 'status=active&age=0-1', 'price=10&price=50']) {
    await sendFirst(visitor, `${shop}?${query}`, 'segments (', [['name', `Segment ${query}`]]);
  }
  await sendFirst(visitor, `${shop}/notifications`, 'notifications', []);
  const file: Field = ['file', sampleFile, 'subscriptions.csv'];
  await sendFirst(visitor, `${shop}/sources/file/new`, 'sources/file (', [file]);
}

/** Sends a page's form as it is but for some fields. */
async function sendFirst(
  visitor: Visitor,
  page: string,
  action: string,
  changes: readonly Field[],
) {
  const form = await findForm(visitor, page, action);
  const changed = new Set(changes.map(([name]) => name));
  const others = fieldsOf(form?.controls ?? []).filter(([name]) => !changed.has(name));
  const { status, body } = await visitor.submit(form?.action ?? page, [...others, ...changes]);
  if (status >= 400) throw new Error(`${page}: ${status}\n${body.toString()}`);
}

/** Pushes a batch, and waits until it is done. @returns the answers */
export async function push(
  client: Visitor,
  source: Source,
  body: string,
  at: string,
): Promise<string> {
  const url = `/ingest/v1/${source.sourceId}`;
  const sign = (id: string, text: string) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(Date.parse(at) / 1000)),
    'webhook-signature': new Webhook(source.secret).sign(id, new Date(at), text),
    'content-length': String(text.length),
  });
  const headers = sign(`batch-${body.length}`, body);
  const send = () => client.send(`${url}/records`, { method: 'POST', headers, body });
  // Until its job queue is open, it answers 503.
  const sent = await repeat(send, ({ status }) => status !== 503);
  const { batchId } = JSON.parse(sent.body.toString()) as { batchId?: string };
  if (batchId === undefined) return `${sent.status} ${sent.body.toString()}`;
  const read = () => client.send(`${url}/batches/${batchId}`, { headers: sign('read', '') });
  const done = await repeat(read, (answer) => /"(?:done|failed)"/.test(answer.body.toString()));
  return `${sent.status} ${done.status} ${done.body.toString().replaceAll(batchId, 'BATCH')}`;
}

/** Does something until its result is as expected; at most 20 seconds. */
export async function repeat<T>(
  work: () => Promise<T>,
  isDone: (result: T) => boolean,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const result = await work();
    if (isDone(result) || attempt === 100) return result;
    await sleep(200);
  }
}
