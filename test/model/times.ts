import * as fc from 'fast-check';

const hour = 3_600_000;
export const day = 24 * hour;
export const worldNow = Date.parse('2026-11-20T12:00:00.000Z');

/** The tolerated clock skew of a source. */
export const clockDifference = 5 * 60_000;

/** Few, so that many records share one: the edges of all windows, both sides of them, and others. */
const instants = [
  ...[0, -30 * day, 7 * day].flatMap((edge) => [edge - 1, edge, edge + 1]),
  ...[-90, -61, -45, -29, -12, -3, 2, 40].map((days) => days * day + 5 * hour),
].map((offset) => worldNow + offset);

export const instant = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...instants) },
  { weight: 1, arbitrary: fc.integer({ min: worldNow - 70 * day, max: worldNow + 10 * day }) },
);

/** Events are rarely dated so far in the future that they are refused. */
const happenedInstant = fc.oneof(
  {
    weight: 60,
    arbitrary: fc.constantFrom(
      ...instants.filter((at) => at <= worldNow + 1),
      ...[1, clockDifference - 1, clockDifference].map((offset) => worldNow + offset),
    ),
  },
  { weight: 10, arbitrary: fc.integer({ min: worldNow - 70 * day, max: worldNow }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(worldNow + clockDifference + 1, worldNow + 2 * day),
  },
);

/** The same instant, possibly in another time zone or with microseconds. */
const spellings: readonly ((at: number) => string)[] = [
  (at) => new Date(at).toISOString(),
  (at) => new Date(at + 5.5 * hour).toISOString().replace('Z', '+05:30'),
  (at) => new Date(at - 8 * hour).toISOString().replace('Z', '999-08:00'),
];
const spelled = (at: fc.Arbitrary<number>) =>
  fc.tuple(at, fc.constantFrom(...spellings)).map(([each, spell]) => spell(each));
/** A planned time. */
export const time = spelled(instant);
/** The time of an event. */
export const happened = spelled(happenedInstant);

export const updatedAt = fc
  .constantFrom(-30 * day - 1, -30 * day, -10 * day, 0, 1, clockDifference)
  .map((offset) => new Date(worldNow + offset).toISOString());

/** No record is newer, so no record with this time is ever stale. */
export const newest = new Date(worldNow + clockDifference).toISOString();

/** The times at which a subscription starts, ends, resumes and ends again. */
export const trouble = [-40, -20, -10, -3].map((days) => worldNow + days * day);
