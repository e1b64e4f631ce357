import { jittered, realBackoff } from './backoff.ts';
import type { ConnectContext } from './platform.ts';

const maxGapMilliseconds = 2_000;
const timeoutMilliseconds = 30_000;
/** Of a request that is answered with 429. */
const maxAttempts = 8;
const maxPauseSeconds = 120;

/** The gap between requests, and when the next one may be sent, by the monotonic clock. */
export interface Pace {
  gap: number;
  freeAt: number;
}

export interface PacedContext extends Pick<ConnectContext, 'clock' | 'signal' | 'backoff'> {
  /** What all that ask one account share. */
  readonly pace?: Pace;
}

/** Where a platform's API is, and how fast it may be asked. */
interface Api {
  readonly address: string;
  readonly gapMilliseconds: number;
}

/**
 * Sends requests with a gap in between, which grows while the platform answers 429.
 * @param baseUrl replaces the platform's address
 */
export function paced(
  { address, gapMilliseconds }: Api,
  {
    clock,
    signal,
    backoff = realBackoff,
    pace = { gap: gapMilliseconds, freeAt: 0 },
  }: PacedContext,
  baseUrl = address,
) {
  let count = 0;
  const wait = async () => {
    const now = clock.monotonic();
    const at = Math.max(now, pace.freeAt);
    pace.freeAt = at + pace.gap;
    if (at > now) await backoff.wait(at - now, signal);
    signal?.throwIfAborted();
  };
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const place = url.replace(address, baseUrl.replace(/\/$/, ''));
    for (let attempt = 1; ; attempt += 1) {
      await wait();
      count += 1;
      const signals = [init.signal, signal, AbortSignal.timeout(timeoutMilliseconds)];
      const stop = AbortSignal.any(signals.filter((each) => !!each));
      // A redirect could take the credentials elsewhere.
      const response = await fetch(place, { ...init, redirect: 'error', signal: stop });
      if (response.status !== 429 || attempt === maxAttempts) {
        pace.gap = Math.max(gapMilliseconds, pace.gap * 0.9);
        return response;
      }
      await response.body?.cancel();
      pace.gap = Math.min(maxGapMilliseconds, pace.gap * 2);
      const seconds = Math.min(Number(response.headers.get('retry-after')), maxPauseSeconds);
      const pause = seconds > 0 ? seconds * 1000 : jittered(attempt, backoff.random());
      pace.freeAt = Math.max(pace.freeAt, clock.monotonic() + pause);
    }
  };
  return { send, requests: () => count };
}
