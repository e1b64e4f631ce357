import type { KeyUsage, UsedKey } from './key-usage.ts';
import type { AnsweredRequest, RequestLog } from './request-log.ts';

/** What is recorded about requests with keys, beside them: the keys' usage and the log of requests. */
export class Calls {
  readonly #usage: KeyUsage;
  readonly #requests: RequestLog;

  constructor(usage: KeyUsage, requests: RequestLog) {
    this.#usage = usage;
    this.#requests = requests;
  }

  note(key: UsedKey, request: AnsweredRequest): void {
    this.#usage.note(key, request.operation, request.status);
    this.#requests.note(key, request);
  }

  /** A key's last use, as far as this process knows (epoch milliseconds). */
  lastUsedAt(shopId: number, keyId: string): number | undefined {
    return this.#usage.lastUsedAt(shopId, keyId);
  }

  /** Stores what this process knows of a shop's requests, for a page that shows them. */
  storeRequests(shopId: number): Promise<void> {
    return this.#requests.write(shopId);
  }

  /** Stores everything noted so far, or tries once more. */
  async settle(): Promise<void> {
    await Promise.all([this.#usage.settle(), this.#requests.settle()]);
  }
}
