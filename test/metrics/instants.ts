import type { Random } from './random.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** Not at the start of a day, hour or minute. */
export const about = Date.parse('2026-11-20T12:34:56.789Z');

/** Where buckets and windows start and end. */
const edges = [
  about,
  about - 30 * day,
  about + 7 * day,
  Date.parse('2026-11-20T00:00:00.000Z'),
  Date.parse('2026-11-20T12:00:00.000Z'),
  Date.parse('2026-11-20T12:34:00.000Z'),
  Date.parse('2026-10-21T12:35:00.000Z'),
  Date.parse('2026-11-27T12:34:00.000Z'),
  Date.parse('2026-10-21T13:00:00.000Z'),
  Date.parse('2026-10-22T00:00:00.000Z'),
  Date.parse('2026-11-20T13:00:00.000Z'),
];

/** When something happens: mostly at a few instants or close to them, so that events often coincide. */
export function timeOf(random: Random): number {
  if (random.chance(0.6)) return random.oneOf(edges) + random.oneOf([-1, 0, 0, 1]);
  if (random.chance(0.5)) return about + random.oneOf([-45, -31, -12, -3, 0, 2]) * day + 5 * hour;
  return about - random.integer(70 * day) + 10 * day;
}

/** When figures are computed: at an event, a window before or after it, or close to that. */
export function instantOf(random: Random): number {
  return timeOf(random) + random.oneOf([0, 0, 30 * day, -7 * day]) + random.oneOf([-1, 0, 1]);
}
