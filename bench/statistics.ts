/** @param sorted ascending, not empty */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: Iterable<number>): number {
  const sorted = Float64Array.from(values).toSorted();
  return (quantile(sorted, 0.5) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2;
}
