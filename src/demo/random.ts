/** A stream of numbers in [0, 1), each a multiple of 2^-32; the same on every machine. */
export type Random = () => number;

// Nothing-up-my-sleeve numbers: the golden ratio and the square roots of 2 and 3.
const PHI = 0x9e3779b9;
const ROOT_2 = 0x6a09e667;
const ROOT_3 = 0xbb67ae85;

/**
 * One of 2^32 independent streams of a seed. Not for secrets.
 * @param seed an integer from 0 to 2^53 - 1
 * @param stream an integer from 0 to 2^32 - 1
 */
export function createRandom(seed: number, stream: number): Random {
  let state = mix(mix(mix(seed | 0) ^ Math.floor(seed / 2 ** 32)) ^ Math.imul(stream, PHI));
  // Every stream has its own step, so that no two are the same sequence with an offset.
  const step = mix(state ^ stream) | 1;
  return () => {
    state = (state + step) | 0;
    return (mix(state) >>> 0) / 2 ** 32;
  };
}

/** True with the given probability, 0 to 1. */
export function chance(random: Random, probability: number): boolean {
  return random() < probability;
}

/** A uniformly distributed integer from `low` to `high`, both included. */
export function integer(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** An integer from `low` to `high`, usually near the middle. */
export function integerNearMiddle(random: Random, low: number, high: number): number {
  return low + Math.floor(((random() + random() + random()) / 3) * (high - low + 1));
}

/** A random item, all equally likely. */
export function pick<T>(random: Random, items: readonly T[]): T {
  return itemAt(items, Math.floor(random() * items.length));
}

/** Items with cumulative weights. */
interface Weighted<T> {
  readonly items: readonly T[];
  /** Cumulative shares; the last is 1. */
  readonly bounds: readonly number[];
}

/** Prepares (item, weight) pairs for `pickWeighted`. Weights must not be negative or all be 0. */
export function weigh<T>(pairs: readonly (readonly [T, number])[]): Weighted<T> {
  const total = pairs.reduce((partial, [, weight]) => partial + weight, 0);
  let sum = 0;
  const bounds = pairs.map(([, weight]) => (sum += weight) / total);
  return { items: pairs.map(([item]) => item), bounds };
}

/** A random item, with a probability proportional to its weight. */
export function pickWeighted<T>(random: Random, { items, bounds }: Weighted<T>): T {
  const drawn = random();
  let index = 0;
  while (index < items.length - 1 && drawn >= (bounds[index] ?? 1)) index++;
  return itemAt(items, index);
}

function itemAt<T>(items: readonly T[], index: number): T {
  if (index >= items.length) throw new RangeError('no items to pick from');
  return items[index] as T;
}

/** Hashes a 32-bit integer, so that similar values give unrelated results. */
function mix(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16) ^ PHI, ROOT_2);
  bits = Math.imul(bits ^ (bits >>> 15), ROOT_3);
  bits = Math.imul(bits ^ (bits >>> 13), PHI);
  return bits ^ (bits >>> 16);
}
