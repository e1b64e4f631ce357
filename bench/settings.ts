import { availableParallelism } from 'node:os';

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback);

/** How often contestants take turns. */
export const rounds = number('BENCH_ROUNDS', 5);
/** How long each turn lasts. */
export const milliseconds = number('BENCH_MILLISECONDS', 1000);
/** Until V8 has compiled the hot code; a cold service is half as fast. */
export const warmUpMilliseconds = 5 * milliseconds;
/** Number of subscriptions in the benchmark's main shop. */
export const subscriptions = number('BENCH_SUBSCRIPTIONS', 20_000);
/** Names of sections and operations; empty means all. */
export const only = (process.env['BENCH_ONLY'] ?? '').split(',').filter((name) => name !== '');
/** How many cores there are to be shared; more than the machine has measures what it has no room for. */
export const cores = number('BENCH_CORES', availableParallelism());
