import { createRandom } from './random.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The length of the shop's history, in milliseconds: two years. */
export const HISTORY = 730 * DAY;

// January to December: gifts in November and December, resolutions in January.
const MONTHS = [1.4, 1.05, 0.95, 0.9, 0.85, 0.72, 0.7, 0.8, 0.95, 1.1, 1.5, 1.65];
// Sunday to Saturday.
const WEEKDAYS = [1.15, 1.1, 1.05, 1, 0.95, 0.8, 0.95];
// Midnight to 23:00.
const HOURS = [
  0.5, 0.3, 0.2, 0.15, 0.15, 0.25, 0.5, 0.8, 1, 1.2, 1.3, 1.3, 1.4, 1.3, 1.2, 1.2, 1.2, 1.3, 1.5,
  1.8, 2, 1.9, 1.5, 0.9,
];
/** Sign-ups a day at the end of the history, relative to its start. */
const GROWTH = 2.4;

/**
 * Spreads sign-ups over the history by season, weekday, hour and growth. The returned function maps
 * a share of all sign-ups, 0 to 1, to epoch milliseconds. Shares must not decrease from call to
 * call, so that it need not search.
 */
export function signUpTimes(seed: number, endAt: number): (share: number) => number {
  const startAt = endAt - HISTORY;
  const weights = hourlyWeights(seed, startAt);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let hour = 0;
  let before = 0;
  return (share) => {
    const target = share * total;
    let weight = weights[hour] ?? 1;
    while (hour < weights.length - 1 && before + weight <= target) {
      before += weight;
      hour++;
      weight = weights[hour] ?? 1;
    }
    const at = startAt + Math.floor((hour + (target - before) / weight) * HOUR);
    return Math.min(at, endAt - 1);
  };
}

function hourlyWeights(seed: number, startAt: number): Float64Array {
  const random = createRandom(seed, 0);
  const weights = new Float64Array(HISTORY / HOUR);
  let dayFactor = 1;
  for (let index = 0; index < weights.length; index++) {
    // Random good and bad days, on top of the season.
    if (index % 24 === 0) dayFactor = 0.8 + 0.4 * random();
    const date = new Date(startAt + index * HOUR);
    const season = (MONTHS[date.getUTCMonth()] ?? 1) * (WEEKDAYS[date.getUTCDay()] ?? 1);
    const growth = 1 + ((GROWTH - 1) * index) / weights.length;
    weights[index] = season * growth * dayFactor * (HOURS[date.getUTCHours()] ?? 1);
  }
  return weights;
}
