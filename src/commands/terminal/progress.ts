import { systemClock } from '../../clock.ts';

const intervalMilliseconds = 200;

/** Shows progress on one line of standard error; does nothing if that is not a terminal. */
export function createProgress(unit: string): { show(count: number): void; clear(): void } {
  if (!process.stderr.isTTY) return { show() {}, clear() {} };
  const begin = systemClock.monotonic();
  let last = 0;
  return {
    show(count) {
      const now = systemClock.monotonic();
      if (now - last < intervalMilliseconds) return;
      last = now;
      const rate = Math.round(count / ((now - begin) / 1000));
      process.stderr.write(
        `\r${count.toLocaleString('en')} ${unit}, ${rate.toLocaleString('en')} a second\x1b[K`,
      );
    },
    clear() {
      if (last > 0) process.stderr.write('\r\x1b[K');
    },
  };
}
