import { CommandError, UsageError } from '../errors.ts';
import { findRecord } from '../platforms/source-ids.ts';
import { recordKinds } from '../store/records/export-dates.ts';
import { defineCommand } from './framework/command.ts';
import { type Parameter, optional, text } from './framework/parameters.ts';
import { table } from './framework/table.ts';
import { shopOption, withShop } from './store.ts';

const kindOptions = Object.fromEntries(
  recordKinds.map((kind) => [kind, optional(text('TEXT'), `the id of a ${kind}`)]),
) as Readonly<Record<(typeof recordKinds)[number], Parameter<string | undefined>>>;

export const idsCommand = defineCommand({
  name: 'ids',
  about: "finds a record's id here by its id at the source, and vice versa",
  notes: [
    'Give one id, here (4812…) or at the source (cus_…).',
    'Only opaque source ids are kept, from the next import of a record on.',
  ],
  options: { ...shopOption, ...kindOptions },
  async run({ shop, ...ids }, context) {
    const [kind, ...others] = recordKinds.filter((each) => ids[each] !== undefined);
    const typed = kind && ids[kind]?.trim();
    if (!kind || !typed || others.length > 0) {
      const names = recordKinds.map((each) => `--${each}`).join(', ');
      throw new UsageError(`Give exactly one of ${names}, with an id.`);
    }
    return withShop(context, shop, async (store) => {
      const record = await findRecord(store.write, shop, kind, typed);
      if (!record) throw new CommandError(`Shop ${shop} has no ${kind} ${typed}.`);
      return { kind, ...record };
    });
  },
  show: (found) =>
    table([found], {
      KIND: ({ kind }) => kind,
      ID: ({ id }) => id,
      'SOURCE ID': ({ sourceId }) => sourceId ?? '(unknown)',
    }),
});
