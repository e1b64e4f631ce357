import { type KeyObject, createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Log } from '../log/log.ts';

const freshMilliseconds = 3_600_000;
/** Between requests: anybody can send reports with invented ids of keys. */
const gapMilliseconds = 60_000;
const timeoutMilliseconds = 5_000;
const maxBytes = 64 * 1024;

const published = z.object({
  public_keys: z.array(z.object({ key_identifier: z.string(), key: z.string() })),
});

/**
 * Finds the keys with which GitHub signs its reports, and reads them when they are needed.
 * @param url where GitHub publishes them
 * @returns a function of a key's id, which returns undefined for an unknown one, and throws if no keys are known
 */
export function createKeyFinder(url: string, clock: Clock, log: Log) {
  let keys: ReadonlyMap<string, KeyObject> = new Map();
  /** On the monotonic clock. */
  let readAt = -Infinity;
  let triedAt = -Infinity;
  let reading = Promise.resolve();

  /** What was read before stays if this fails. */
  async function read(now: number): Promise<void> {
    try {
      keys = await fetchKeys(url);
      readAt = now;
    } catch (error) {
      log.error({ reason: describeError(error) }, 'public keys of GitHub not read');
    }
  }

  return async (id: string): Promise<KeyObject | undefined> => {
    const now = clock.monotonic();
    if (!keys.has(id) || now - readAt >= freshMilliseconds) {
      if (now - triedAt >= gapMilliseconds) {
        triedAt = now;
        reading = read(now);
      }
      await reading;
    }
    if (keys.size === 0) throw new Error('The public keys of GitHub are not known.');
    return keys.get(id);
  };
}

async function fetchKeys(url: string): Promise<Map<string, KeyObject>> {
  const response = await fetch(url, {
    headers: { accept: 'application/json', 'user-agent': 'retention-data-service' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMilliseconds),
  });
  if (!response.ok) throw new Error(`The answer has status ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`The answer is longer than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  const all = published.parse(JSON.parse(Buffer.concat(chunks).toString('utf8'))).public_keys;
  return new Map(all.map((each) => [each.key_identifier, createPublicKey(each.key)]));
}

/** @param signature of the body as it came: ECDSA over its SHA-256, in DER and base64 */
export function isSignedWith(key: KeyObject, body: Buffer, signature: string): boolean {
  const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  return isP256 && verify('sha256', body, key, Buffer.from(signature, 'base64'));
}
