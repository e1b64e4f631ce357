import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

interface Drain {
  readonly clock: Clock;
  readonly milliseconds: number;
  readonly deadline: AbortSignal;
}

/** Keeps serving until every connection has been closed after a response, or time is up. */
export async function drainConnections(
  countConnections: () => Promise<number>,
  { clock, milliseconds, deadline }: Drain,
): Promise<void> {
  const end = clock.monotonic() + milliseconds;
  while (clock.monotonic() < end && !deadline.aborted && (await countConnections()) > 0) {
    await sleep(10);
  }
}

/** Settles once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
