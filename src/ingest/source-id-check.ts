import type { Transaction } from '../store/database.ts';
import { type SourceId, insertSourceIds, listSourceIds } from '../store/records/source-ids.ts';
import type { Entry } from './batch.ts';

const keyOf = ({ kind, id }: Pick<SourceId, 'kind' | 'id'>) => `${kind} ${id}`;

interface Checked {
  readonly accepted: Entry[];
  readonly refused: { readonly entry: Entry; readonly reason: string }[];
}

/**
 * Refuses entries with a source id whose derived id already belongs to another source id. Derived
 * ids are hashes of 52 bits, so collisions are possible.
 */
export async function checkSourceIds(
  tx: Transaction,
  shopId: number,
  entries: readonly Entry[],
): Promise<Checked> {
  const used = new Map(
    entries.flatMap(({ sourceIds }) => sourceIds.map((each) => [keyOf(each), each])),
  );
  const known = new Map<string, string>();
  if (used.size > 0) {
    for (const stored of await listSourceIds(tx, shopId, [...used.values()])) {
      known.set(keyOf(stored), stored.sourceId);
    }
  }
  const checked: Checked = { accepted: [], refused: [] };
  for (const entry of entries) {
    const collision = entry.sourceIds.find(
      (each) => (known.get(keyOf(each)) ?? each.sourceId) !== each.sourceId,
    );
    if (collision) {
      const { kind, id, sourceId } = collision;
      const reason = `${kind} ${sourceId} maps to the id ${id}, which ${known.get(keyOf(collision))} already has; change one of the two`;
      checked.refused.push({ entry, reason });
      continue;
    }
    for (const each of entry.sourceIds) known.set(keyOf(each), each.sourceId);
    checked.accepted.push(entry);
  }
  return checked;
}

/** Stores the source ids that the entries define. */
export async function storeSourceIds(
  tx: Transaction,
  shopId: number,
  entries: readonly Entry[],
): Promise<void> {
  const own = entries.flatMap(({ sourceIds }) => sourceIds.filter(({ isOwn }) => isOwn));
  if (own.length > 0) await insertSourceIds(tx, shopId, own);
}
