import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** Other requests wait no longer than this, and for the one step that goes beyond it. */
const sliceMilliseconds = 10;

/** Cuts long work into slices. */
export class Turns {
  readonly #clock: Clock;
  #startedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** To be called between steps: lets other requests have their turn once a slice is over. */
  async pass(): Promise<void> {
    if (this.#clock.monotonic() - this.#startedAt < sliceMilliseconds) return;
    await turn();
    this.#startedAt = this.#clock.monotonic();
  }
}
