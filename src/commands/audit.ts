import { type ChainReport, pruneChain, verifyChain } from '../accounts/audit/chain.ts';
import { deedOf, nameOf, ownerPattern } from '../acts.ts';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { Sql } from '../store/database.ts';
import {
  type AuditEntry,
  documentOf,
  installation,
  listAuditHeads,
  listEntries,
  listPeople,
  shopOf,
} from '../store/owners/audit.ts';
import type { Store } from '../store/open.ts';
import { findShop, listShops } from '../store/shops.ts';
import {
  type Value,
  defineCommand,
  duration,
  exitStatus,
  id,
  optional,
  past,
  withDefault,
} from './framework/command.ts';
import { table } from './framework/io.ts';
import { withStore } from './store.ts';

const shopOption = {
  shop: optional(id, 'one shop; without it, all of them and the installation'),
};

const entriesPerRead = 1_000;

const nameOfChain = (shopId: number) =>
  shopId === installation ? 'Installation' : `Shop ${shopId}`;

/** The ids of chains: also of shops whose chains have lost their heads. */
async function chainsOf(sql: Sql, shop: number | undefined): Promise<readonly number[]> {
  if (shop !== undefined) return [shop];
  const heads = await listAuditHeads(sql);
  const shops = await listShops(sql);
  const all = new Set([
    installation,
    ...heads.map(({ shopId }) => shopId),
    ...shops.map((each) => each.id),
  ]);
  return [...all].toSorted((one, other) => one - other);
}

const list = defineCommand({
  name: 'audit list',
  about: 'lists the entries of the audit log: who did what, when and from where',
  notes: [
    'Entries without a shop are those of the installation. docs/security.md explains the log.',
  ],
  options: {
    ...shopOption,
    since: optional(past, 'a date, an ISO 8601 time, or how long ago: 24h, 7d'),
  },
  run: ({ shop, since }, context) =>
    withStore(context, async ({ write: sql }) => {
      const entries: AuditEntry[] = [];
      const page = { from: since ?? new Date(0), order: 'oldest', limit: entriesPerRead } as const;
      for (const shopId of await chainsOf(sql, shop)) {
        let some: AuditEntry[] = [];
        do {
          some = await listEntries(sql, shopId, { ...page, after: some.at(-1) });
          entries.push(...some);
        } while (some.length === entriesPerRead);
      }
      entries.sort((one, other) => one.at.getTime() - other.at.getTime());
      return { entries, people: await listPeople(sql, entries) };
    }),
  document: ({ entries, people }) =>
    entries.map((entry) => {
      const [who, target] = [entry.who, entry.target ?? ''].map((text) =>
        text.replace(ownerPattern, (owner) => people.get(owner)?.email ?? owner),
      );
      return documentOf({ ...entry, who: who ?? '', target: target || null });
    }),
  show: ({ entries, people }) =>
    entries.length === 0
      ? 'There are no entries.'
      : table(entries, {
          AT: ({ at }) => at,
          SHOP: ({ shopId }) => shopOf(shopId) ?? '-',
          WHO: ({ who }) => nameOf(who, people),
          WHAT: (entry) => deedOf(entry, people),
          NETWORK: ({ network }) => network,
          SESSION: ({ session }) => session,
        }),
});

const hashes: Value<readonly string[]> = {
  hint: 'HASH,…',
  read(typed, name) {
    const all = typed.split(',').map((each) => each.trim().toLowerCase());
    if (all.every((each) => /^[0-9a-f]{64}$/.test(each))) return all;
    throw new UsageError(
      `${name} takes hashes of 64 hexadecimal digits as "retention audit verify" prints them, separated by commas.`,
    );
  },
};

const verify = defineCommand({
  name: 'audit verify',
  about: 'recomputes the chains of the audit log, and says what is missing or changed',
  notes: [
    'Prints the head of each chain, which has the hash of its last entry. A chain whose end was cut is',
    'whole in itself: only a head that was kept elsewhere shows it. The log of "serve" has the heads.',
    'Exit status 1 if anything is wrong.',
  ],
  options: {
    ...shopOption,
    head: optional(hashes, 'of heads kept elsewhere, each of which must be in its chain'),
  },
  run: ({ shop, head: kept = [] }, context) =>
    withStore(context, async ({ write: sql }) => {
      const lost = new Set(kept);
      const chains: ChainReport[] = [];
      const keys = context.config.credentialsKeys;
      for (const shopId of await chainsOf(sql, shop)) {
        chains.push(await verifyChain(sql, shopId, { keys, seen: (hash) => lost.delete(hash) }));
      }
      const begun = chains.filter(isBegun);
      if (shop !== undefined && begun.length === 0 && !(await findShop(sql, shop))) {
        throw new CommandError(`There is no shop ${shop}, and the audit log has no entries of it.`);
      }
      return { chains: begun, lostHeads: [...lost] };
    }),
  document: ({ chains, lostHeads }) => ({
    ok: isWhole({ chains, lostHeads }),
    chains: chains.map(({ shopId, first, number, hash, problems }) => ({
      shop: shopOf(shopId),
      first,
      last: number,
      head: hash,
      problems,
    })),
    lostHeads,
  }),
  show: ({ chains, lostHeads }) =>
    [
      table(chains, {
        CHAIN: ({ shopId }) => nameOfChain(shopId),
        ENTRIES: ({ first, number }) => `${first} to ${number}`,
        HEAD: ({ hash }) => hash,
        STATE: ({ problems }) => (problems.length === 0 ? 'whole' : 'broken'),
      }),
      ...chains.flatMap(({ shopId, problems }) =>
        problems.map((each) => `${nameOfChain(shopId)}: ${each}`),
      ),
      ...lostHeads.map(
        (hash) =>
          `No entry has the hash ${hash}: the end of its chain was cut, it was rewritten, or it was pruned since.`,
      ),
    ].join('\n'),
  end: (result) => (isWhole(result) ? exitStatus.done : exitStatus.failed),
});

const isBegun = ({ number, problems }: ChainReport) => number > 0 || problems.length > 0;

const isWhole = (result: {
  readonly chains: readonly ChainReport[];
  readonly lostHeads: readonly string[];
}) => result.lostHeads.length === 0 && result.chains.every(({ problems }) => problems.length === 0);

const prune = defineCommand({
  name: 'audit prune',
  acts: ['entries_pruned'],
  about: 'removes old entries of the audit log, and leaves the hash of the last one',
  notes: [
    'The login of DATABASE_URL must own the table. With CREDENTIALS_KEY, what is left is signed.',
  ],
  options: {
    ...shopOption,
    keep: withDefault(duration, '400d', 'how long entries are kept, such as 400d'),
  },
  run: ({ shop, keep }, context) =>
    withStore(context, async ({ write: sql }: Store) => {
      const at = new Date(systemClock.now());
      const options = {
        at,
        before: new Date(at.getTime() - keep),
        by: context.actor,
        keys: context.config.credentialsKeys,
      };
      const pruned: { readonly shop: number | null; readonly upTo: number }[] = [];
      for (const shopId of await chainsOf(sql, shop)) {
        const upTo = await pruneChain(sql, shopId, options);
        if (upTo !== undefined) pruned.push({ shop: shopOf(shopId), upTo });
      }
      return pruned;
    }),
  show: (pruned) =>
    pruned.length === 0
      ? 'No entry is that old.'
      : table(pruned, { SHOP: ({ shop }) => shop ?? '-', 'REMOVED UP TO': ({ upTo }) => upTo }),
});

export const auditCommands = [list, verify, prune];
