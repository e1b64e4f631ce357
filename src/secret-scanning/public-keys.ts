import { type KeyObject, createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Log } from '../log/log.ts';

const freshMilliseconds = 3_600_000;
/** Between requests, so that reports with invented ids of keys cause few. */
const gapMilliseconds = 60_000;
const timeoutMilliseconds = 5_000;
const maxBytes = 64 * 1024;

const published = z.object({
  public_keys: z.array(z.object({ key_identifier: z.string(), key: z.string() })).max(100),
});

/** The keys with which GitHub signs its reports, read when they are needed. */
export class PublicKeys {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #log: Log;
  #keys: ReadonlyMap<string, KeyObject> = new Map();
  /** On the monotonic clock. */
  #readAt = -Infinity;
  #triedAt = -Infinity;
  /** In-flight request, shared by callers. */
  #reading: Promise<void> | undefined;

  constructor(url: string, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#url = url;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * @returns undefined if GitHub has no such key
   * @throws if no keys could be read yet
   */
  async find(id: string): Promise<KeyObject | undefined> {
    const now = this.#clock.monotonic();
    const isUsable = this.#keys.has(id) && now - this.#readAt < freshMilliseconds;
    if (!isUsable && now - this.#triedAt >= gapMilliseconds) {
      this.#triedAt = now;
      this.#reading = this.#read(now).finally(() => (this.#reading = undefined));
    }
    if (!isUsable) await this.#reading;
    if (this.#keys.size === 0) throw new Error('The public keys of GitHub are not known.');
    return this.#keys.get(id);
  }

  /** What was read before stays if this fails. */
  async #read(now: number): Promise<void> {
    try {
      const response = await fetch(this.#url, {
        headers: { accept: 'application/json', 'user-agent': 'retention-data-service' },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMilliseconds),
      });
      const text = await textOf(response);
      if (!response.ok) throw new Error(`It answered ${response.status}.`);
      const { public_keys: keys } = published.parse(JSON.parse(text));
      this.#keys = new Map(keys.map((each) => [each.key_identifier, createPublicKey(each.key)]));
      this.#readAt = now;
    } catch (error) {
      this.#log.error({ reason: describeError(error) }, 'public keys of GitHub not read');
    }
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`It is longer than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @param signature of the body as it came: ECDSA over its SHA-256, in DER and base64 */
export function isSignedWith(key: KeyObject, body: Buffer, signature: string): boolean {
  const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  return isP256 && verify('sha256', body, key, Buffer.from(signature, 'base64'));
}
