import type { Column } from './table.ts';

/** The candidate with the highest score above 0; the first of equal ones. */
export function bestOf<T>(
  candidates: readonly T[],
  score: (candidate: T) => number,
): { readonly found: T; readonly score: number } | undefined {
  let best: { readonly found: T; readonly score: number } | undefined;
  for (const found of candidates) {
    const points = score(found);
    if (points > (best?.score ?? 0)) best = { found, score: points };
  }
  return best;
}

/** Enough distinct values of a column to judge all of them. */
export function sampleOf({ counts }: Column, size = 3000): string[] {
  const all = [...counts.keys()];
  const step = Math.max(1, Math.floor(all.length / size));
  return all.filter((_, index) => index % step === 0);
}
