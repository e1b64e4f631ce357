import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { hashKey, isWellFormedKey } from '../access/keys/key-format.ts';
import { leaseDrainMilliseconds } from '../access/keys/key-leases.ts';
import { revokeLeakedKey } from '../access/keys/keys.ts';
import type { Actor } from '../acts.ts';
import type { Clock } from '../clock.ts';
import { privateJson, refuse } from '../http/answer.ts';
import type { Route } from '../http/shell.ts';
import { parseJson } from '../json.ts';
import { type Log, redact } from '../log/log.ts';
import type { Message } from '../mail/mailer.ts';
import type { Outbox } from '../mail/outbox.ts';
import { leakedKeyLetters } from '../owner/keys/letters.ts';
import { webhookRoute } from '../platforms/webhooks/route.ts';
import { listKeysByHash } from '../store/keys/keys.ts';
import type { Store } from '../store/open.ts';
import { findShop } from '../store/shops.ts';
import { createKeyFinder, isSignedWith } from './public-keys.ts';

const maxBytes = 1024 * 1024;
const maxTokens = 2_000;
const maxPlaceLength = 500;

const github: Actor = { who: 'platform github' };

/** As GitHub's secret scanning partner program has it. */
const report = z
  .array(z.object({ token: z.string(), type: z.string().max(200), url: z.string().default('') }))
  .max(maxTokens);
type Finding = z.infer<typeof report>[number];

const malformed = () =>
  refuse(
    400,
    `The report must be a JSON list of at most ${maxTokens} objects with token, type and url.`,
  );

interface Parts {
  /** Where GitHub publishes its keys. */
  readonly keysUrl: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbox: Pick<Outbox, 'post'>;
  baseUrl(): string;
}

/** Receives reports of keys that were found in public, and revokes them. docs/decisions/0016-secrets-and-keys.md */
export function secretScanningRoute({ keysUrl, ...parts }: Parts): Route {
  const findKey = createKeyFinder(keysUrl, parts.clock, parts.log);
  const receiver: Parameters<typeof webhookRoute>[1] = {
    async readClaim(headers) {
      const id = String(headers['github-public-key-identifier'] ?? '');
      const signature = String(headers['github-public-key-signature'] ?? '');
      if (!/^[0-9a-f]{1,128}$/i.test(id) || !/^[A-Za-z0-9+/]{8,200}={0,2}$/.test(signature)) {
        return undefined;
      }
      const key = await findKey(id);
      return key && { account: id, isSigned: (body) => isSignedWith(key, body, signature) };
    },
    async handle({ body }) {
      const findings = report.safeParse(parseJson(body.toString('utf8')));
      if (!findings.success) return malformed();
      const judged = await judgeAll(parts, findings.data);
      return { status: 200, headers: privateJson, body: JSON.stringify(judged) };
    },
  };
  const unsigned =
    'The report is not signed by GitHub, as Github-Public-Key-Identifier and Github-Public-Key-Signature must show.';
  return webhookRoute('secret-scanning', receiver, parts.log, { maxBytes, unsigned });
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
  const parts = { sql: store.write, clock, log };
  const letters: (() => Promise<Message[]>)[] = [];
  const failures: unknown[] = [];
  for (const { hash, record } of known) {
    const { shopId, keyId: id } = record;
    const place = places.get(hash) ?? placeOf('');
    const name = await revokeLeakedKey(parts, { shopId, id, actor: github }, place).catch(
      (error: unknown) => void failures.push(error),
    );
    if (name === undefined) continue;
    letters.push(async () => {
      const shop = await findShop(store.primaryOf(shopId).keys, shopId);
      return shop ? leakedKeyLetters(store.write, { shop, baseUrl: baseUrl() }, name, place) : [];
    });
  }
  // Together, so that they are sent one after the other.
  outbox.post('leaked keys', async () =>
    (await Promise.all(letters.map((write) => write()))).flat(),
  );
  // Until then, an instance may still hold a lease of a key.
  if (letters.length > 0) await sleep(leaseDrainMilliseconds);
  // GitHub sends the report again, which revokes the others.
  if (failures.length > 0) throw new AggregateError(failures, 'Leaked keys were not revoked.');
  const hashes = new Set(known.map(({ hash }) => hash));
  return findings.map(({ token, type }) => ({
    // Not its hash, whose encoding GitHub leaves open.
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
