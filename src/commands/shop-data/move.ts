import { contextOfApp } from '../../accounts/factors/codes.ts';
import { contextOf as contextOfIssuer } from '../../accounts/sso/providers.ts';
import { systemClock } from '../../clock.ts';
import { parseKeys } from '../../config/platform-config.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { contextOf as contextOfPlatform } from '../../platforms/credentials/stored.ts';
import { contextOf as contextOfSource, secretSealing } from '../../push/sources.ts';
import { UploadFolder } from '../../push/upload/folder.ts';
import {
  type MoveOptions,
  bringShop,
  copyShopTo,
  findMove,
  requireAlike,
} from '../../store/moves/move.ts';
import { type Translate, listSealedBeginnings, sealedColumns } from '../../store/moves/rows.ts';
import type { Sql } from '../../store/database.ts';
import { deleteJobsOfShop } from '../../store/feeds/jobs.ts';
import { beginDeletion, deleteShop } from '../../store/shop-deletion.ts';
import { findShop } from '../../store/shops.ts';
import { type Context, defineCommand, id, optional, required, text } from '../framework/command.ts';
import { createProgress } from '../framework/io.ts';
import { listDifferences } from '../metrics.ts';
import { awaitRefusal, requireKept, requireNotMoved, withShopHeld } from '../store.ts';
import { type Place, fromEnvironment, resolvePlace, withPlace } from './place.ts';

const options = {
  id: required({ ...id, hint: 'N' }, 'the id of the shop'),
  to: required(text('URL|env:NAME'), 'the other database, or the variable that has its address'),
};

const passwordNote =
  'With --to env:NAME, a password is neither in the list of processes nor in the history.';

export const copyCommand = defineCommand({
  name: 'shops copy',
  acts: ['shop_copied'],
  about: 'copies the records and figures of a shop to another database, to rehearse a move',
  notes: ['The copy has no keys, owners and sources. The shop stays as it is.', passwordNote],
  options,
  run: ({ id: shopId, to }, context) =>
    withBoth(shopId, resolvePlace(to, '--to', context), context, [], async (from, there, both) => {
      await copyShopTo(from, there, both);
      return { id: shopId, to: both.address };
    }),
  show: ({ id: shopId, to }) => `Copied shop ${shopId} to ${to}. It has no keys there.`,
});

export const moveCommand = defineCommand({
  name: 'shops move',
  acts: ['shop_moved'],
  about: 'moves a shop to another database, with its keys, owners and sources',
  notes: [
    'The shop is served here until the last moment; then its keys are known there.',
    'After a crash or Ctrl-C, run it again.',
    passwordNote,
  ],
  options: {
    ...options,
    toKey: optional(
      text('env:NAME'),
      'the variable that has the CREDENTIALS_KEY used there, if it is another one',
    ),
  },
  run({ id: shopId, to, toKey }, context) {
    const place = resolvePlace(to, '--to', context);
    const named = toKey && fromEnvironment(toKey, '--to-key', context);
    const keys =
      named === undefined ? context.config.credentialsKeys : named !== toKey && parseKeys(named);
    if (!keys) {
      throw new UsageError(
        '--to-key must be env:NAME, with a CREDENTIALS_KEY in that variable; a key itself would be in the list of processes.',
      );
    }
    return withBoth(shopId, place, context, keys, async (from, there, both) => {
      const clear = async () => {
        await deleteJobsOfShop(from, shopId);
        await new UploadFolder(context.config.uploads.folder).removeAll(shopId);
      };
      await requireKeyOf(there, keys, both.address);
      await bringShop(from, there, both);
      // Not sooner: writers that wait for the end of the move may have locked what is deleted here.
      const begun = beginDeletion(from, shopId, both.at, { hasMoved: true });
      await awaitRefusal(begun, context, from);
      await clear();
      await deleteShop(from, shopId, { by: both.by, at: both.at, movedTo: both.address });
      await clear();
      return { id: shopId, to: both.address };
    });
  },
  show: ({ id: shopId, to }) => `Moved shop ${shopId} to ${to}.`,
});

/** @param keys of the other place */
function withBoth<T>(
  shopId: number,
  place: Place,
  context: Context,
  keys: readonly Buffer[],
  work: (from: Sql, to: Sql, options: MoveOptions) => Promise<T>,
): Promise<T> {
  const { config, io, actor } = context;
  return withShopHeld(context, shopId, async (from) => {
    const shop = await findShop(from, shopId);
    if (!shop) {
      await requireNotMoved(from, shopId);
      throw new CommandError(`There is no shop ${shopId}.`);
    }
    if (!(await findMove(from, shopId))?.movingTo) requireKept(shop);
    const progress = createProgress(io, 'rows');
    let rows = 0;
    try {
      return await withPlace(place, '--to', async (to) => {
        await requireAlike(from, to, place.address);
        return work(from, to, {
          shopId,
          address: place.address,
          isEmbedded: config.databaseUrl === undefined,
          by: actor,
          at: new Date(systemClock.now()),
          progress: (more) => progress.show((rows += more)),
          reseal: resealing(config.credentialsKeys, keys),
          async check(copy) {
            const { figures, sums } = await listDifferences(copy, shop);
            if (figures.length + sums.length === 0) return;
            throw new CommandError(
              `The figures of shop ${shopId} are not those of its records. Run "retention metrics rebuild --shop ${shopId}" first.`,
            );
          },
        });
      });
    } finally {
      progress.clear();
    }
  });
}

/** @throws CommandError if secrets are stored there, of which none of these keys has encrypted one */
async function requireKeyOf(there: Sql, keys: readonly Buffer[], address: string): Promise<void> {
  const sealing = secretSealing(keys);
  const sealed = (await listSealedBeginnings(there)).filter((each) => !sealing.isPlain(each));
  if (keys.length === 0 || sealed.length === 0) return;
  if (sealed.some((each) => sealing.hasKeyOf(each))) return;
  throw new CommandError(
    `The secrets at ${address} are encrypted with another key. Name the variable that has the CREDENTIALS_KEY used there: --to-key env:NAME.`,
  );
}

type SealedTable = keyof typeof sealedColumns;

const isSealed = (table: string): table is SealedTable => Object.hasOwn(sealedColumns, table);

/** What the secrets of a row belong to. */
const contexts: Readonly<Record<SealedTable, (row: SealedRow) => string>> = {
  'ingest.sources': contextOfSource,
  'owners.factors': contextOfApp,
  'owners.sso_providers': ({ shopId }) => contextOfIssuer(shopId),
  'platforms.connections': ({ platform, shopId }) => contextOfPlatform(platform, shopId),
};

interface SealedRow {
  readonly shopId: number;
  readonly sourceId: string;
  readonly ownerId: string;
  readonly platform: string;
}

/** Encrypts the secrets of rows for a place with other keys. */
function resealing(here: readonly Buffer[], there: readonly Buffer[]): Translate {
  const isSame = here.length === there.length && here.every((key, at) => there[at]?.equals(key));
  const [opening, sealing] = [secretSealing(here), secretSealing(there)];
  return (table, row) => {
    // The key of a passkey is public.
    const isPublic = table === 'owners.factors' && row['credential_id'] !== null;
    if (isSame || isPublic || !isSealed(table)) return {};
    const context = contexts[table]({
      shopId: Number(row['shop_id']),
      sourceId: String(row['source_id']),
      ownerId: String(row['owner_id']),
      platform: String(row['platform']),
    });
    const resealed = sealedColumns[table].map((column) => {
      const secret = row[column];
      return [
        column,
        typeof secret === 'string' ? sealing.seal(opening.open(secret, context), context) : secret,
      ];
    });
    return Object.fromEntries(resealed);
  };
}
