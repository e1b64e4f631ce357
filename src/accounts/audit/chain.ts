import { createHash, createHmac } from 'node:crypto';
import type { Actor } from '../../acts.ts';
import type { Sql } from '../../store/database.ts';
import {
  type AuditHead,
  type ChainedEntry,
  appendEntry,
  deleteEntries,
  findAuditHead,
  findLastBefore,
  listChain,
} from '../../store/owners/audit.ts';

/*
 * Verifies and prunes the chains that append_audit_entry (migrations/audit.sql) writes.
 * docs/decisions/0024-teams-and-audit.md
 */

/** Entries that are read at once. */
const entriesPerRead = 1_000;
const noHash = '0'.repeat(64);

/** The hash of an entry as append_audit_entry computes it: the text is that of PostgreSQL's JSON. */
function hashOf(entry: ChainedEntry): string {
  const { shopId, number, at, who, session, what, target, network } = entry;
  const values = [shopId, number, at.getTime(), who, session, what, target, network];
  const text = `[${values.map((each) => JSON.stringify(each)).join(', ')}]`;
  return createHash('sha256').update(entry.previous, 'hex').update(text).digest('hex');
}

/** What is left of the beginning that was pruned, as the target of an entry. */
function anchorOf({ shopId, number, hash }: AuditHead, key: Buffer | undefined): string {
  const words = [number, hash];
  if (key) words.push(signatureOf({ shopId, number, hash }, key));
  return words.join(' ');
}

function signatureOf({ shopId, number, hash }: AuditHead, key: Buffer): string {
  const text = JSON.stringify(['audit anchor', shopId, number, hash]);
  return createHmac('sha256', key).update(text).digest('hex');
}

/**
 * Removes the entries of a chain that are older than a time. What is left is an entry with the number and hash of the
 * last that was removed, signed with the first key.
 * @returns how far it was pruned; undefined if nothing is that old
 */
export function pruneChain(
  sql: Sql,
  shopId: number,
  { before, at, by, keys }: { before: Date; at: Date; by: Actor; keys: readonly Buffer[] },
): Promise<number | undefined> {
  return sql.begin(async (tx) => {
    const last = await findLastBefore(tx, shopId, before);
    if (!last) return undefined;
    const target = anchorOf(last, keys[0]);
    await appendEntry(tx, shopId, { at, by, what: 'entries_pruned', target });
    await deleteEntries(tx, shopId, last.number);
    return last.number;
  });
}

export interface ChainReport extends AuditHead {
  /** The number of the first entry that was not pruned. */
  readonly first: number;
  /** What is wrong with the chain, each in a sentence; none if it is whole. */
  readonly problems: readonly string[];
}

/**
 * Recomputes a chain.
 * @param keys with one of which the anchor of a pruned chain must be signed, if there are any
 * @param seen is called with each hash in it
 */
export async function verifyChain(
  sql: Sql,
  shopId: number,
  { keys, seen }: { readonly keys: readonly Buffer[]; seen(hash: string): void },
): Promise<ChainReport> {
  const problems: string[] = [];
  // Before the entries: more may be appended meanwhile.
  const head = (await findAuditHead(sql, shopId)) ?? { shopId, number: 0, hash: noHash };
  const anchors = new Set<string>();
  let first: ChainedEntry | undefined;
  let last = { number: 0, hash: noHash };
  let atHead: string | undefined;
  for (
    let page: ChainedEntry[];
    (page = await listChain(sql, shopId, last.number, entriesPerRead)).length > 0;
  ) {
    for (const entry of page) {
      const { number, hash, previous, what, target } = entry;
      if (first && number > last.number + 1) problems.push(missing(last.number + 1, number - 1));
      else if (first && previous !== last.hash) {
        problems.push(`Entry ${last.number} is not the one that entry ${number} follows.`);
      }
      if (hashOf(entry) !== hash) problems.push(`Entry ${number} was changed.`);
      if (what === 'entries_pruned') anchors.add(target ?? '');
      if (number === head.number) atHead = hash;
      // What was pruned may end with a head that is asked for.
      if (!first) seen(previous);
      seen(hash);
      first ??= entry;
      last = entry;
    }
  }
  if (first) problems.unshift(...problemsOfBeginning(first, anchors, keys));
  if (last.number < head.number) problems.push(missing(last.number + 1, head.number));
  else if (last.number > 0 && atHead !== head.hash) {
    problems.push(`Entry ${head.number} is not the one that the head names.`);
  }
  return { shopId, number: last.number, hash: last.hash, first: first?.number ?? 1, problems };
}

function missing(from: number, to: number): string {
  return from === to ? `Entry ${from} is missing.` : `Entries ${from} to ${to} are missing.`;
}

function problemsOfBeginning(
  { shopId, number, previous }: ChainedEntry,
  anchors: ReadonlySet<string>,
  keys: readonly Buffer[],
): string[] {
  if (number === 1) {
    return previous === noHash ? [] : ['Entry 1 is not the one with which the chain began.'];
  }
  const pruned = { shopId, number: number - 1, hash: previous };
  if (keys.some((key) => anchors.has(anchorOf(pruned, key)))) return [];
  const isNamed = [...anchors].some((each) => each.startsWith(anchorOf(pruned, undefined)));
  if (!isNamed) return [missing(1, number - 1)];
  if (keys.length === 0) return [];
  return [`Entries 1 to ${number - 1} were pruned, but no key of CREDENTIALS_KEY has signed that.`];
}
