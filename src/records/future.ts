import type { Clock } from '../clock.ts';

/** How far a source's clock may be ahead of this one. */
const maxClockSkewMs = 5 * 60_000;

/** Whether a time is in the future by more than clocks may differ. */
export function isInFuture(at: number, clock: Clock): boolean {
  return at > clock.now() + maxClockSkewMs;
}

/** What a message says of such a time. */
export function lyingInFuture(at: number): string {
  return `${new Date(at).toISOString()} lies in the future; send it once it has happened`;
}
