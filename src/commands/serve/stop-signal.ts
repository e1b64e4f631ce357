const repeatMilliseconds = 500;

/**
 * The first signal asks for a clean end; a later one ends the process at once. One that comes with the
 * first is the same request: npm passes on what the terminal has sent to all of its processes already.
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
