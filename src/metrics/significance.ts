/** Fewer cases are not judged. */
export const minCases = 10;
/** A rate of fewer cases is written as so many of so many. */
export const minRated = 50;
/** A change counts if it is more than so many times what chance alone would do. */
const minDeviations = 2;

/** Why a change is neither better nor worse, in a few words for owners. */
type Doubt = 'No clear change' | 'Too few now' | 'Too few before' | 'Too few to judge';

/** How much of a change may be chance. The one rule for sentences, arrows and colours. docs/decisions/0021-figures.md */
export interface Significance {
  /** How many times it is what chance alone would do; 0 if there are too few cases to say. */
  readonly deviations: number;
  readonly doubt: Doubt | undefined;
}

/** Of a number of events, each of which happens independently. */
export function significanceOfCounts(before: number, now: number): Significance {
  if (before + now < minCases) return { deviations: 0, doubt: 'Too few to judge' };
  return judge(Math.abs(now - before) / Math.sqrt(before + now));
}

export interface Share {
  readonly share: number;
  /** The number of cases that it is a share of. */
  readonly of: number;
}

export function significanceOfShares(before: Share, now: Share): Significance {
  const isFew = { before: before.of < minCases, now: now.of < minCases };
  if (isFew.before || isFew.now) {
    const doubt = isFew.before && isFew.now ? 'to judge' : isFew.now ? 'now' : 'before';
    return { deviations: 0, doubt: `Too few ${doubt}` };
  }
  const pooled = (before.share * before.of + now.share * now.of) / (before.of + now.of);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / before.of + 1 / now.of));
  return judge(now.share === before.share ? 0 : Math.abs(now.share - before.share) / error);
}

function judge(deviations: number): Significance {
  return { deviations, doubt: deviations < minDeviations ? 'No clear change' : undefined };
}
