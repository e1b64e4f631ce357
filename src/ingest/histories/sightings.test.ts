import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomOf } from '../../../test/metrics/random.ts';
import { runs } from '../../../test/support/seed.ts';
import { subscriptionStatuses } from '../../vocabulary.ts';
import { type Sighting, Sightings } from './sightings.ts';

type Seen = Pick<Sighting, 'status' | 'since'>;

/** One export, as far as one subscription is concerned. */
interface Observation {
  readonly at: number;
  readonly seen: Seen | undefined;
  /** What a complete one does with what it lacks. */
  readonly gone: 'cancelled' | 'deleted' | undefined;
}

/** Imports exports in the given order, and says what follows. */
function historyOf(observations: readonly Observation[]) {
  const sightings = new Sightings([]);
  let text: string | null = null;
  for (const { at, seen, gone } of observations) {
    if (seen) text = sightings.add(text, { at, ...seen });
    if (gone) sightings.complete({ at, since: at, gone });
  }
  return text === null ? undefined : { text, ...sightings.historyOf(text) };
}

const changesOf = (...observations: readonly Observation[]) =>
  historyOf(observations)?.changes.map(({ at, to }) => `${at} ${to}`);

const seen = (at: number, status: Seen['status'], since?: Seen['since']): Observation => ({
  at,
  seen: { status, since },
  gone: undefined,
});
const complete = (observation: Observation): Observation => ({ ...observation, gone: 'cancelled' });
const lacking = (at: number, gone: Observation['gone'] = 'cancelled'): Observation => ({
  at,
  seen: undefined,
  gone,
});

test('a change is dated by the first export that shows it after the last that shows it otherwise', () => {
  const [first, second, third] = [seen(1, 'active'), seen(2, 'cancelled'), seen(3, 'cancelled')];
  assert.deepEqual(changesOf(first, second, third), ['2 cancelled']);
  assert.deepEqual(changesOf(third, first), ['3 cancelled']);
  assert.deepEqual(changesOf(third, first, second), ['2 cancelled']);
  assert.deepEqual(changesOf(seen(5, 'active'), third, first), ['3 cancelled', '5 active']);
});

test('a change that was never seen otherwise has no date, until one is known', () => {
  assert.deepEqual(changesOf(seen(2, 'cancelled')), ['null cancelled']);
  assert.deepEqual(changesOf(seen(3, 'cancelled'), seen(2, 'cancelled')), ['null cancelled']);
  assert.deepEqual(changesOf(seen(2, 'cancelled', 1)), ['1 cancelled']);
  assert.deepEqual(changesOf(seen(2, 'cancelled'), seen(3, 'cancelled', 1)), ['1 cancelled']);
  const stated = seen(3, 'cancelled', [[1, 'cancelled']]);
  assert.deepEqual(changesOf(seen(2, 'cancelled'), stated), ['1 cancelled']);
  assert.deepEqual(changesOf(seen(2, 'paused'), seen(3, 'active')), ['null paused', '3 active']);
});

test('stated dates count, and what exports showed before the first of them stays', () => {
  const stated = seen(9, 'cancelled', [[7, 'cancelled']]);
  const shown = [seen(1, 'active'), seen(2, 'paused'), seen(3, 'active')];
  const before = ['2 paused', '3 active'];
  assert.deepEqual(changesOf(...shown, stated), [...before, '7 cancelled']);
  // Shown too early, or still active after it.
  for (const at of [6, 8]) {
    assert.deepEqual(changesOf(...shown, seen(at, 'cancelled'), stated), [
      ...before,
      '7 cancelled',
    ]);
    assert.deepEqual(changesOf(...shown, seen(at, 'active'), stated), [...before, '7 cancelled']);
  }
  assert.deepEqual(changesOf(stated, seen(12, 'active')), ['7 cancelled', '12 active']);
});

test('what a complete export lacks is gone from the first that lacks it after the last that had it', () => {
  const active = seen(2, 'active');
  assert.deepEqual(changesOf(lacking(1), active), []);
  assert.deepEqual(changesOf(active, lacking(4), lacking(3)), ['3 cancelled']);
  assert.deepEqual(changesOf(active, lacking(3), seen(4, 'active')), ['3 cancelled', '4 active']);
  assert.deepEqual(changesOf(active, seen(3, 'paused'), lacking(4)), ['3 paused', '4 cancelled']);
  // It had ended already.
  for (const status of ['cancelled', 'expired', 'failed'] as const) {
    assert.deepEqual(changesOf(active, seen(3, status), lacking(4)), [`3 ${status}`]);
  }
  // A partial export that lacks it says nothing; a complete one that has it, that it is there.
  assert.deepEqual(
    changesOf(active, { ...lacking(3), gone: undefined }, complete(seen(4, 'active'))),
    [],
  );
  // A deletion leaves no trace.
  assert.deepEqual(changesOf(active, lacking(3, 'deleted'), seen(4, 'paused')), ['null paused']);
});

test('what an export showed is replaced when it comes again, unless its record has another time', () => {
  assert.deepEqual(changesOf(seen(1, 'active'), seen(5, 'paused'), seen(5, 'cancelled')), [
    '5 cancelled',
  ]);
  const [first, second] = [seen(5, 'paused', 2), seen(5, 'cancelled', 3)];
  assert.deepEqual(changesOf(first, second), ['2 paused', '3 cancelled']);
  assert.deepEqual(changesOf(second, first), ['2 paused', '3 cancelled']);
});

test('consecutive exports that show the same take one entry', () => {
  const months = Array.from({ length: 400 }, (_, index) => index + 1);
  const active = months.map((at) => seen(at, 'active'));
  assert.equal(historyOf(active)?.text, '[[1,400,"active"]]');
  const [text] = [historyOf([...active, seen(401, 'paused', 400), seen(402, 'paused', 400)])?.text];
  assert.equal(text, '[[1,400,"active"],[401,402,"paused",400]]');
});

test('more exports than are numbered are kept by their time', () => {
  const sightings = new Sightings(Array.from({ length: 5000 }, (_, at) => ({ at })));
  let text = sightings.add(null, { at: 4999, status: 'active' });
  for (const at of [9000, 8000]) text = sightings.add(text, { at, status: 'paused' });
  assert.equal(text, '[[0,8000,"paused"],[0,9000,"paused"],[5000,5000,"active"]]');
  assert.deepEqual(sightings.historyOf(text).changes, [{ at: 8000, to: 'paused' }]);
  assert.equal(sightings.isChanged, false);
});

/** Sorts all observations by their date, then walks through them. */
function model(observations: readonly Observation[]) {
  let known: { status: string; changes: [at: number | null, to: string][] } | undefined;
  for (const { at, seen: what, gone } of observations.toSorted((a, b) => a.at - b.at)) {
    if (!what && gone === 'deleted') known = undefined;
    if (!what && gone === 'cancelled' && known && ['active', 'paused'].includes(known.status)) {
      known = { status: 'cancelled', changes: [...known.changes, [at, 'cancelled']] };
    }
    if (!what) continue;
    const { status, since } = what;
    const isOther = status !== (known?.status ?? 'active');
    const date = typeof since === 'number' ? since : known ? at : null;
    const changes = known?.changes ?? [];
    const last = changes.at(-1);
    if (!isOther && last?.[0] === null && typeof since === 'number') last[0] = since;
    known = { status, changes: isOther ? [...changes, [date, status]] : changes };
  }
  return known?.changes;
}

function randomObservations({ integer, oneOf, chance }: Random): Observation[] {
  return Array.from({ length: 1 + integer(9) }, (_, index) => {
    const at = (index + 1) * 10;
    const since = chance(0.2) ? at - integer(9) : undefined;
    const isSeen = chance(0.7);
    return {
      at,
      seen: isSeen ? { status: oneOf(subscriptionStatuses), since } : undefined,
      gone:
        isSeen && chance(0.5) ? undefined : oneOf([undefined, 'cancelled', 'cancelled', 'deleted']),
    };
  });
}

test('the order in which exports are imported, and how often, makes no difference', () => {
  const { numRuns, seed } = runs(3000);
  for (let run = 0; run < numRuns; run += 1) {
    const random = randomOf(seed + run);
    const observations = randomObservations(random);
    const shuffled = [...observations, ...observations.filter(() => random.chance(0.3))]
      .map((each) => ({ each, by: random.integer(1000) }))
      .toSorted((a, b) => a.by - b.by)
      .map(({ each }) => each);
    const expected = model(observations);
    // Until it is seen after it was deleted, it is not stored.
    if (!expected) continue;
    const changes = historyOf(shuffled)?.changes.map(({ at, to }) => [at, to]);
    assert.deepEqual(changes, expected, `seed ${seed + run}`);
  }
});
