import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { KeyRecord } from '../store/keys.ts';

const intervalMilliseconds = 60_000;

/** Keeps each key's last use, with at most one write a minute, outside the request that used it. */
export class KeyUsage {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #write: (key: KeyRecord, at: number) => Promise<unknown>;
  /** Last write by key, oldest first. */
  readonly #written = new Map<string, number>();
  readonly #pending = new Set<Promise<unknown>>();

  /** @param write stores the time of use (epoch milliseconds); a failure is logged, not thrown */
  constructor(clock: Clock, log: Log, write: (key: KeyRecord, at: number) => Promise<unknown>) {
    this.#clock = clock;
    this.#log = log;
    this.#write = write;
  }

  note(key: KeyRecord): void {
    const now = this.#clock.now();
    if (now - (this.#written.get(key.keyId) ?? key.lastUsedAt) < intervalMilliseconds) return;

    for (const [keyId, at] of this.#written) {
      if (now - at < intervalMilliseconds) break;
      this.#written.delete(keyId);
    }
    this.#written.set(key.keyId, now);
    const writing = this.#write(key, now)
      .catch((cause: unknown) =>
        this.#log.warn({ err: cause, keyId: key.keyId }, 'last use not stored'),
      )
      .finally(() => this.#pending.delete(writing));
    this.#pending.add(writing);
  }

  /** Resolves when every write under way has ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
