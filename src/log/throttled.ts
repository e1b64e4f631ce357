import type { Clock } from '../clock.ts';

const quietMilliseconds = 60_000;

/** Limits messages to one a minute, so that a fault that lasts does not fill the log. */
export function throttled<Message>(
  clock: Clock,
  call: (message: Message) => void,
): (message: Message) => void {
  let last = -Infinity;
  return (message) => {
    const now = clock.monotonic();
    if (now - last < quietMilliseconds) return;
    last = now;
    call(message);
  };
}
