import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { Snapshot } from '../../ingest/snapshot.ts';
import { createMakers, mapRows } from '../../mapping/open.ts';
import { needsAsOf } from '../../mapping/read.ts';
import { ensureCustomerKey } from '../../store/records/customer-keys.ts';
import {
  type StreamState,
  forgetDigests,
  keepStreams,
  listStreams,
  upsertStreams,
} from '../../store/feeds/streams.ts';
import { type Intake, storeLines, totalsOf } from '../intake.ts';
import type { SyncOptions, SyncReport } from '../platform.ts';
import { checkOutcome, isOlder, refuseForeign, stateOf, unread } from '../streams.ts';
import type { Source } from './connection.ts';
import { type Reading, checkColumns, readStream, sumRows } from './read.ts';
import type { Stream } from './streams.ts';

const platform = 'postgres';
const daySeconds = 86_400;
/** After this time, a stream with a cursor is read whole again, for what its cursor did not show. */
const wholeSeconds = 7 * daySeconds;
/** How often the first sync notes how far it is. */
const noteMilliseconds = 2000;

export interface SyncedSource {
  readonly account: string;
  readonly streams: readonly Stream[];
  /** Opens it, if anything is due. */
  read<Result>(work: (source: Source) => Promise<Result>): Promise<Result>;
}

interface Known {
  readonly stream: Stream;
  readonly state: StreamState;
}

/** How a stream is to be read now. */
interface Due extends Known {
  /** Whether all of its rows are read, or only those that its cursor shows. */
  readonly isWhole: boolean;
}

/**
 * Reads the streams that are due, in one transaction there, and stores what they have in one run here: records may
 * refer to each other across streams.
 * @throws PlatformError
 * @throws CommandError if the shop has data from another source
 */
export async function syncStreams(
  synced: SyncedSource,
  intake: Intake,
  { full, takeOver }: SyncOptions,
): Promise<SyncReport> {
  const { account, streams } = synced;
  const { sql, shop, clock } = intake;
  const stored = await listStreams(sql, shop.id, platform);
  const known = streams.map((stream) => {
    const found = stored.find((each) => each.stream === stream.name);
    return { stream, state: stateOf(intake, account, stream, found) };
  });
  if (stored.length === 0) {
    if (!takeOver) await refuseForeign(intake, account, streams);
    // If this is killed, what is stored by then is no longer foreign.
    await upsertStreams(
      sql,
      shop.id,
      platform,
      known.map(({ state }) => state),
    );
  }
  await keepStreams(
    sql,
    shop.id,
    platform,
    streams.map((stream) => stream.name),
  );
  const due = listDue(known, { full, now: clock.now() });
  if (due.length === 0) return { kind: 'changes', read: { rows: 0 }, ...totalsOf() };
  return synced.read((source) => syncDue(source, synced, due, { intake, takeOver }));
}

async function syncDue(
  source: Source,
  { account, streams }: SyncedSource,
  due: readonly Due[],
  { intake, takeOver }: { readonly intake: Intake; readonly takeOver: boolean },
): Promise<SyncReport> {
  const { sql, shop, clock } = intake;
  const unchanged = takeOver ? new Map<string, Reading>() : await findUnchanged(source, due, clock);
  const isSnapshot = due.some(
    ({ stream, isWhole }) => stream.isComplete && isWhole && !unchanged.has(stream.name),
  );
  // What one complete stream lacks, another may have.
  const isMapped = ({ stream: { name, isComplete } }: Due) =>
    !unchanged.has(name) || (isSnapshot && isComplete);
  // What a deletion takes with it comes back only if its row is mapped again.
  if (isSnapshot) await forgetDigests(sql, shop.id);
  const asOf = Math.min(await timeOf(source), clock.now());
  const customerKey = await ensureCustomerKey(sql, shop.id);
  const readings = new Map(unchanged);
  const held = new Set<string>();
  const refused = new Set<string>();
  const lines = due.filter(isMapped).map(({ stream, state, isWhole }) => {
    const reading: Reading = { cursor: undefined, rows: 0, sum: 0n };
    readings.set(stream.name, reading);
    const since = isWhole ? undefined : (state.cursor ?? undefined);
    const isDated = isSnapshot || needsAsOf(stream.mapping);
    const makers = createMakers(stream.mapping, {
      shop,
      customerKey,
      clock,
      ...(isDated && { asOf }),
    });
    async function* rows() {
      const type = await checkColumns(source, stream);
      let notedAt = clock.monotonic();
      for await (const some of readStream(source, stream, { since, type }, reading)) {
        yield some;
        await turn();
        if (state.readAt || clock.monotonic() - notedAt < noteMilliseconds) continue;
        notedAt = clock.monotonic();
        const { types } = state;
        const soFar = { ...unread(account, { name: stream.name, types }), rows: reading.rows };
        await upsertStreams(sql, shop.id, platform, [soFar]);
      }
    }
    return { name: stream.name, lines: mapRows(rows(), makers, { rows: 0 }) };
  });
  const snapshot = isSnapshot ? snapshotOf(streams, takeOver) : undefined;
  const counts = await storeLines(intake, account, lines, {
    ...(snapshot && { snapshot }),
    refused: (stream, isEarly) => {
      refused.add(stream);
      if (isEarly) held.add(stream);
    },
  });
  checkOutcome(snapshot?.outcome, platform, shop.id);
  const readAt = new Date(clock.now());
  await upsertStreams(
    sql,
    shop.id,
    platform,
    due.map((each) => {
      const { stream, state, isWhole } = each;
      const { name } = stream;
      const reading = readings.get(name);
      const known = { ...state, account, readAt, rows: reading?.rows ?? 0 };
      if (!isMapped(each)) return { ...known, wholeAt: readAt };
      const { cursor = known.cursor } = reading ?? {};
      // What refers to something that is not there yet is read again, until that is.
      if (!isWhole) return { ...known, cursor: held.has(name) ? known.cursor : cursor };
      const digest = reading && !refused.has(name) ? digestOf(stream, reading) : null;
      return { ...known, cursor, wholeAt: readAt, mappedAt: readAt, digest };
    }),
  );
  const totals = totalsOf(counts);
  if (totals.deleted > 0) await forgetDigests(sql, shop.id);
  return {
    kind: due.every(({ isWhole }) => isWhole) ? 'whole' : 'changes',
    read: { rows: [...readings.values()].reduce((sum, { rows }) => sum + rows, 0) },
    ...totals,
  };
}

/** The streams to read whole whose rows are all as they were when they were last mapped, this week. */
async function findUnchanged(source: Source, due: readonly Due[], clock: Clock) {
  const unchanged = new Map<string, Reading>();
  for (const { stream, state, isWhole } of due) {
    const { digest, wholeAt, mappedAt } = state;
    const isKnown = isWhole && wholeAt && digest?.startsWith(`${stream.recipe} `);
    if (!isKnown || isOlder(mappedAt, wholeSeconds, clock.now())) continue;
    const reading = await sumRows(source, stream);
    if (digestOf(stream, reading) === digest) unchanged.set(stream.name, reading);
  }
  return unchanged;
}

const digestOf = ({ recipe }: Stream, { rows, sum }: Reading) =>
  recipe === undefined ? null : `${recipe} ${rows} ${sum}`;

/** Complete streams are read whole together: what one of them lacks, another may have. */
function listDue(
  known: readonly Known[],
  { full, now }: { readonly full: boolean; readonly now: number },
): readonly Due[] {
  const isSnapshotDue = known.some(
    ({ stream: { isComplete, cursor, everySeconds }, state }) =>
      isComplete &&
      isOlder(state.wholeAt, cursor === undefined ? (everySeconds ?? daySeconds) : daySeconds, now),
  );
  return known.flatMap(({ stream, state }): Due[] => {
    const { cursor, everySeconds, isComplete } = stream;
    const isWholeDue = isComplete
      ? isSnapshotDue
      : isOlder(state.wholeAt, cursor === undefined ? (everySeconds ?? 3600) : wholeSeconds, now);
    if (full || isWholeDue) return [{ stream, state, isWhole: true }];
    const isDue = cursor !== undefined && isOlder(state.readAt, everySeconds ?? 0, now);
    return isDue ? [{ stream, state, isWhole: false }] : [];
  });
}

function snapshotOf(streams: readonly Stream[], allowShrink: boolean): Snapshot {
  const complete = streams.filter(({ isComplete }) => isComplete);
  const types = [...new Set(complete.flatMap((each) => each.types))];
  const gone = complete.find((each) => each.types.includes('subscription'))?.gone;
  return new Snapshot({ types, allowShrink, ...(gone && { gone }) });
}

/** @returns epoch milliseconds, by the clock of the source */
async function timeOf(source: Source): Promise<number> {
  const { rows } = await source.query<{ at: string }>({
    text: 'select floor(extract(epoch from now()) * 1000)::bigint as at',
  });
  return Number(rows[0]?.at);
}
