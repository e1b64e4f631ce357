import { systemClock } from '../../clock.ts';
import type { Io } from './io.ts';

const intervalMilliseconds = 200;

export interface Progress {
  show(count: number): void;
  /** Makes room for other output. */
  clear(): void;
}

/**
 * Shows progress on one line of standard error; does nothing if that is not a terminal.
 * @param share how much of all work is done, between 0 and 1; undefined if that is not known
 */
export function createProgress(
  { stderr }: Io,
  unit: string,
  share?: () => number | undefined,
): Progress {
  if (!stderr.isTTY) return { show() {}, clear() {} };
  const begin = systemClock.monotonic();
  let last = 0;
  return {
    show(count) {
      const now = systemClock.monotonic();
      if (now - last < intervalMilliseconds) return;
      last = now;
      const text = describeProgress({
        count,
        unit,
        seconds: (now - begin) / 1000,
        share: share?.(),
      });
      stderr.write(`\r${text}\x1b[K`);
    },
    clear() {
      if (last > 0) stderr.write('\r\x1b[K');
    },
  };
}

interface State {
  readonly count: number;
  readonly unit: string;
  readonly seconds: number;
  readonly share: number | undefined;
}

export function describeProgress({ count, unit, seconds, share }: State): string {
  const rate = Math.round(count / seconds).toLocaleString('en');
  const percent = share === undefined ? '' : `, ${Math.floor(share * 100)}%`;
  return `${count.toLocaleString('en')} ${unit}, ${rate} a second${percent}`;
}
