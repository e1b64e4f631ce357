import { z } from 'zod';
import { hashKey, isWellFormedKey } from '../access/keys/key-format.ts';
import { revokeLeakedKey } from '../access/keys/keys.ts';
import type { Actor } from '../acts.ts';
import type { Clock } from '../clock.ts';
import { privateJson, refuse } from '../http/answer.ts';
import type { Route } from '../http/shell.ts';
import { UnverifiedBodies } from '../http/unverified-bodies.ts';
import { type Log, redact } from '../log/log.ts';
import type { Outbox } from '../mail/outbox.ts';
import { leakedKeyLetters } from '../owner/keys/letters.ts';
import { listKeysByHash } from '../store/keys/keys.ts';
import type { Store } from '../store/open.ts';
import { findShop } from '../store/shops.ts';
import { within } from '../time-limit.ts';
import { PublicKeys, isSignedWith } from './public-keys.ts';

const maxBytes = 1024 * 1024;
/** All bodies that are not verified yet, per instance. */
const maxUnverifiedBytes = 4 * 1024 * 1024;
const maxTokens = 2_000;
/** Reports per instance that wait for the database. */
const maxWaiting = 10;
/** GitHub gives up after thirty. */
const timeoutMilliseconds = 25_000;

const maxPlaceLength = 500;

const github: Actor = { who: 'platform github' };

/** As GitHub's secret scanning partner program has it. */
const report = z
  .array(z.object({ token: z.string(), type: z.string().max(200), url: z.string().default('') }))
  .max(maxTokens);
type Finding = z.infer<typeof report>[number];

const unsigned = () =>
  refuse(
    401,
    'The report is not signed by GitHub, as Github-Public-Key-Identifier and Github-Public-Key-Signature must show.',
  );
const malformed = () =>
  refuse(
    400,
    `The report must be a JSON list of at most ${maxTokens} objects with token, type and url.`,
  );
const later = (headers: Readonly<Record<string, string>> = {}) =>
  refuse(503, 'Try again later.', { 'retry-after': '60', ...headers });

interface Parts {
  /** Where GitHub publishes its keys. */
  readonly keysUrl: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbox: Pick<Outbox, 'post'>;
  baseUrl(): string;
}

/** Receives reports of keys that were found in public, and revokes them. docs/decisions/0050-keys.md */
export function secretScanningRoute({ keysUrl, ...parts }: Parts): Route {
  const { log } = parts;
  const publicKeys = new PublicKeys(keysUrl, parts);
  const bodies = new UnverifiedBodies({
    contentType: 'application/json',
    maxBytes,
    totalBytes: maxUnverifiedBytes,
    // GitHub's keys are public.
    hasSecretNames: false,
    refuse: later,
  });
  let waiting = 0;
  /** One report at a time: they are rare, and each may have thousands of tokens. */
  let turn: Promise<unknown> = Promise.resolve();

  return {
    method: 'POST',
    url: '/webhooks/secret-scanning',
    async handle(request) {
      const { headers, id: requestId } = request;
      const id = String(headers['github-public-key-identifier'] ?? '');
      const signature = String(headers['github-public-key-signature'] ?? '');
      // Everything that costs less than reading the body comes first.
      if (!/^[0-9a-f]{1,128}$/i.test(id) || !/^[A-Za-z0-9+/]{8,200}={0,2}$/.test(signature)) {
        return unsigned();
      }
      const key = await publicKeys.find(id).catch(() => null);
      if (key === null) return later();
      if (!key) return unsigned();
      const body = await bodies.read(request, id, (bytes) => isSignedWith(key, bytes, signature));
      if (!body) return unsigned();
      if ('refusal' in body) return body.refusal;
      const findings = report.safeParse(parseJson(body.bytes));
      if (!findings.success) return malformed();
      if (waiting >= maxWaiting) return later();
      waiting += 1;
      const work = turn.then(() => judgeAll(parts, findings.data));
      turn = work.catch(() => {}).finally(() => (waiting -= 1));
      try {
        const judged = await within(timeoutMilliseconds, work);
        return { status: 200, headers: privateJson, body: JSON.stringify(judged) };
      } catch (err) {
        log.error({ requestId, err }, 'report of leaked keys failed');
        return later();
      }
    },
  };
}

/** Revokes the keys among the tokens, and says of each token whether it is one. */
async function judgeAll(
  { store, clock, log, outbox, baseUrl }: Omit<Parts, 'keysUrl'>,
  findings: readonly Finding[],
) {
  const places = new Map(
    findings
      .filter(({ token }) => isWellFormedKey(token))
      .map(({ token, url }) => [hashKey(token), placeOf(url)]),
  );
  const known = await listKeysByHash(store.primary.keys, [...places.keys()]);
  const revoked: { readonly shopId: number; readonly name: string; readonly place: string }[] = [];
  for (const { hash, record } of known) {
    const { shopId, keyId: id } = record;
    const place = places.get(hash) ?? placeOf('');
    const parts = { sql: store.write, clock, log };
    const name = await revokeLeakedKey(parts, { shopId, id, actor: github }, place);
    if (name !== undefined) revoked.push({ shopId, name, place });
  }
  outbox.post('leaked keys', async () => {
    const letters = revoked.map(async ({ shopId, name, place }) => {
      const shop = await findShop(store.primary.keys, shopId);
      return shop ? leakedKeyLetters(store.write, { shop, baseUrl: baseUrl() }, name, place) : [];
    });
    return (await Promise.all(letters)).flat();
  });
  const hashes = new Set(known.map(({ hash }) => hash));
  return findings.map(({ token, type }) => ({
    token_raw: token,
    token_type: type,
    label: hashes.has(hashKey(token)) ? 'true_positive' : 'false_positive',
  }));
}

/** Where a key was found, for people and the audit log. */
function placeOf(address: string): string {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) return 'a place that GitHub did not name';
  return redact(url.href).slice(0, maxPlaceLength);
}

/** @returns undefined if it is no JSON */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
