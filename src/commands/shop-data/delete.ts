import { systemClock } from '../../clock.ts';
import { CommandError } from '../../errors.ts';
import { visible } from '../../log/visible.ts';
import { UploadFolder } from '../../push/upload/folder.ts';
import { recordTypes, records } from '../../records/records.ts';
import type { Sql } from '../../store/database.ts';
import { deleteJobsOfShop } from '../../store/feeds/jobs.ts';
import { beginDeletion, countOwnersOfOnly, deleteShop } from '../../store/shop-deletion.ts';
import { findShop, requireHere } from '../../store/shops.ts';
import { defineCommand, exitStatus, flag, id, required } from '../framework/command.ts';
import { createProgress, tell } from '../framework/io.ts';
import { Interrupted, onInterruption } from '../import/interruption.ts';
import { awaitRefusal, withShopHeld } from '../store.ts';
import { describeRows, leftOut } from './export.ts';

const counted: Readonly<Record<string, string>> = {
  ...Object.fromEntries(recordTypes.map((type) => [records[type].table, `${type} records`])),
  ...leftOut,
};

export const deleteCommand = defineCommand({
  name: 'shops delete',
  acts: ['shop_deleted'],
  about: 'deletes a shop, and everything that is stored about it',
  notes: ['After a crash or Ctrl-C, run it again. Backups and logs are not changed.'],
  options: {
    id: required({ ...id, hint: 'N' }, 'the id of the shop'),
    yes: flag('without it, that is only explained'),
  },
  async run({ id: shopId, yes }, context) {
    const { io, config } = context;
    const progress = createProgress(io, 'rows deleted');
    return withShopHeld(context, shopId, async (sql) => {
      const shop = await findShop(sql, shopId);
      if (!shop) throw new CommandError(`There is no shop ${shopId}.`);
      await requireHere(sql, shopId);
      if (!yes) {
        const found = await describe(sql, shopId);
        throw new CommandError(
          `Nothing was deleted. Shop ${shopId} (${visible(shop.name)}) has ${found}. All of that would go, and the shop. "retention shops export" saves its records. Add --yes to delete it.`,
        );
      }
      const signal = onInterruption(io);
      const clear = async () => {
        await deleteJobsOfShop(sql, shopId);
        await new UploadFolder(config.uploads.folder).removeAll(shopId);
      };
      try {
        const begun = beginDeletion(sql, shopId, new Date(systemClock.now()));
        await awaitRefusal(begun, context, sql);
        await clear();
        await deleteShop(sql, shopId, {
          by: context.actor,
          at: new Date(systemClock.now()),
          progress(rows) {
            signal.throwIfAborted();
            progress.show(rows);
          },
        });
        // What was queued meanwhile.
        await clear();
        return { id: shopId, name: shop.name, interrupted: undefined };
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        return { id: shopId, name: shop.name, interrupted: error };
      } finally {
        progress.clear();
      }
    });
  },
  document: ({ id: shopId, interrupted }) => ({ id: shopId, deleted: !interrupted }),
  show: ({ id: shopId, name, interrupted }) =>
    interrupted
      ? `Shop ${shopId} is deleted in part.`
      : `Deleted shop ${shopId} (${visible(name)}) and everything stored about it.`,
  end({ interrupted }, { io }) {
    if (!interrupted) return exitStatus.done;
    tell(io, 'Interrupted. To finish, run the same command again.');
    return interrupted.exitStatus;
  },
});

async function describe(sql: Sql, shopId: number): Promise<string> {
  const found = await describeRows(sql, shopId, counted);
  const owners = await countOwnersOfOnly(sql, shopId);
  if (owners > 0) found.push(`${owners} accounts of owners without another shop`);
  return found.length === 0 ? 'no records and no keys' : found.join(', ');
}
