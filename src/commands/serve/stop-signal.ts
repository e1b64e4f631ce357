const repeatMilliseconds = 500;

/**
 * The first signal requests an orderly shutdown; a later one ends the process at once. A second one
 * right after the first is a duplicate: the terminal signals all its processes, and npm also
 * forwards the signal.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      resolve(signal);
      setTimeout(() => {
        for (const each of signals) process.removeListener(each, stop);
      }, repeatMilliseconds).unref();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
