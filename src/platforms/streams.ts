import type { SnapshotOutcome } from '../ingest/snapshot.ts';
import type { RecordType } from '../records/records.ts';
import type { StreamState } from '../store/feeds/streams.ts';
import { listPresentKinds } from '../store/records/export-dates.ts';
import { PlatformError } from './errors.ts';
import type { Intake } from './intake.ts';

/* What platforms share whose records are made from streams of rows. */

/** The state of a stream that has never been read. */
export function unread(
  account: string,
  { name, types }: { readonly name: string; readonly types: readonly RecordType[] },
): StreamState {
  const nothingRead = { cursor: null, readAt: null, wholeAt: null, rows: 0 };
  return { stream: name, account, types, ...nothingRead, digest: null, mappedAt: null };
}

/** What is known of a stream, and the types that it keeps up now: those that no other platform does. */
export function stateOf(
  intake: Intake,
  account: string,
  { name, types }: { readonly name: string; readonly types: readonly RecordType[] },
  known: StreamState | undefined,
): StreamState {
  const own = listTaken(intake, types);
  if (!known) return unread(account, { name, types: own });
  // What the other one kept up until now was refused.
  const isMore = own.some((type) => !known.types.includes(type));
  return { ...known, types: own, ...(isMore && { wholeAt: null }) };
}

const listTaken = ({ whyNotTaken }: Intake, types: readonly RecordType[]) =>
  types.filter((type) => whyNotTaken?.(type) === undefined);

/** Whether something was so long ago, or never. @param now epoch milliseconds */
export function isOlder(at: Date | null | undefined, seconds: number, now: number): boolean {
  return !at || now - at.getTime() >= seconds * 1000;
}

/**
 * Before the first sync, a shop may have other data, which would be mixed with it.
 * @throws PlatformError if it has
 */
export async function refuseForeign(
  intake: Intake,
  account: string,
  streams: readonly { readonly types: readonly RecordType[] }[],
): Promise<void> {
  const { sql, shop } = intake;
  // Those of another platform stay.
  const types = listTaken(
    intake,
    streams.flatMap((each) => each.types),
  );
  const [type] = await listPresentKinds(sql, shop.id, types);
  if (type === undefined) return;
  throw new PlatformError(
    'refused',
    `Shop ${shop.id} already has ${type}s, which no connection keeps up; ${account} has to take them over.`,
    '--take-over lets it replace them, and end or delete what complete streams do not have.',
  );
}

/** @throws PlatformError if a snapshot ended nothing, since it seems not to be whole */
export function checkOutcome(
  outcome: SnapshotOutcome | undefined,
  platform: string,
  shopId: number,
): void {
  if (outcome?.kind === 'unreadable') {
    throw new PlatformError(
      'refused',
      `${outcome.lines} rows have no id that can be read (the first is ${outcome.first}), so it is not known what is gone, and nothing was ended or deleted.`,
    );
  }
  if (outcome?.kind !== 'shrunk') return;
  const [{ type, gone, before } = { type: 'record', gone: 0, before: 0 }] = outcome.shrunk;
  throw new PlatformError(
    'refused',
    `${gone} of ${before} ${type}s are gone from a complete stream, more than a fifth, so nothing was ended or deleted.`,
    `If that is right, run "retention sync ${platform} --shop ${shopId} --full --take-over".`,
  );
}
