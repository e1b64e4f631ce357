import { CommandError, UsageError } from '../errors.ts';
import { findRecord } from '../platforms/source-ids.ts';
import { recordKinds } from '../store/records/tables.ts';
import { type Command, exitStatus, formatTable, print, printJson } from './command.ts';
import { withShop } from './keys.ts';

export const idsCommand: Command = {
  name: 'ids',
  synopsis: '--shop ID --KIND TEXT [--json]',
  summary: "finds a record's id here by its id at the source, and vice versa",
  details: [
    `--KIND  ${recordKinds.map((kind) => `--${kind}`).join(', ')},`,
    '        with an id, here (4812…) or at the source (cus_…)',
    'Only opaque source ids are kept, from the next import of a record on.',
  ],
  options: {
    shop: { type: 'string' },
    ...Object.fromEntries(recordKinds.map((kind) => [kind, { type: 'string' }] as const)),
    json: { type: 'boolean' },
  },
  async run(context) {
    const { options } = context;
    const requested = recordKinds.filter((kind) => options[kind] !== undefined);
    const [kind] = requested;
    const text = kind === undefined ? '' : String(options[kind]).trim();
    if (kind === undefined || requested.length > 1 || text === '') {
      const names = recordKinds.map((each) => `--${each}`).join(', ');
      throw new UsageError(`Give exactly one of ${names}, with an id.`);
    }
    const found = await withShop(context, async (store, shop) => {
      const record = await findRecord(store.write, shop.id, kind, text);
      if (!record) throw new CommandError(`Shop ${shop.id} has no ${kind} ${text}.`);
      return record;
    });
    if (options['json']) printJson({ kind, ...found });
    else {
      const row = [kind, String(found.id), found.sourceId ?? '(unknown)'];
      print(formatTable(['KIND', 'ID', 'SOURCE ID'], [row]));
    }
    return exitStatus.done;
  },
};
