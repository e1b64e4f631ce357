import { systemClock } from '../../clock.ts';
import { UsageError } from '../../errors.ts';
import { type ShopHeader, headerOf } from '../../ingest/exports/header.ts';
import { type ExportPage, type Position, exportRecords } from '../../ingest/exports/records.ts';
import { recordTypes } from '../../records/records.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { appendEntry } from '../../store/owners/audit.ts';
import { inOneState } from '../../store/shop-copy.ts';
import { countRows } from '../../store/shop-tables.ts';
import type { Shop } from '../../store/shops.ts';
import {
  defineCommand,
  exitStatus,
  flag,
  id,
  optional,
  required,
  text,
} from '../framework/command.ts';
import { type Io, createProgress, print, printAll, printJson, tell } from '../framework/io.ts';
import { Interrupted, onInterruption } from '../import/interruption.ts';
import { withShop } from '../store.ts';
import { PartialFile } from './partial-file.ts';

/** What is stored of a shop beside its records, and is not exported, in the plural. */
export const leftOut: Readonly<Record<string, string>> = {
  api_keys: 'API keys',
  'owners.memberships': 'owners',
  'owners.segments': 'saved segments',
  'owners.sso_providers': 'issuers for single sign-on',
  'ingest.sources': 'push sources',
  'ingest.batches': 'pushed batches',
  'ingest.uploads': 'uploads',
  'platforms.connections': 'platform connections',
  contacted_cases: 'customers marked as contacted',
  redacted_customers: 'redactions',
  export_dates: 'dates of earlier exports',
};

type Counts = Record<string, number>;

export const exportCommand = defineCommand({
  name: 'shops export',
  acts: ['rows_exported'],
  about: 'writes all records of a shop as NDJSON, which "import" reads',
  notes: [
    'With --output, a run that was stopped goes on where it stopped, if the shop has not changed.',
    'The first line may have the key by which e-mail addresses became ids: keep the file secret.',
  ],
  options: {
    id: required({ ...id, hint: 'N' }, 'the id of the shop'),
    output: optional(text('FILE'), 'the file to write (standard output)'),
    json: flag('with --output: prints the counts as JSON'),
  },
  async run({ id: shopId, output, json }, context) {
    const { io, config } = context;
    if (json && output === undefined) throw new UsageError('--json needs --output.');
    io.giveWay();
    const signal = onInterruption(io);
    const file = output === undefined ? undefined : await PartialFile.for(output);
    const progress = createProgress(io, 'records');
    const isEmbedded = config.databaseUrl === undefined;
    const counts: Counts = {};
    try {
      await withShop(context, shopId, async (store, shop) => {
        const sql = store.write;
        await appendEntry(sql, shopId, {
          at: new Date(systemClock.now()),
          by: context.actor,
          what: 'rows_exported',
          target: 'all records',
        });
        await inOneState(sql, { shopId, isEmbedded, isOnce: !file }, async (state) => {
          const begun = await begin(state, shop, file, io);
          for (const type of recordTypes) counts[type] = begun.counts[type] ?? 0;
          const pages = exportRecords(state, shopId, begun.after);
          const texts = textsOf(begun.header, pages, (page) => {
            signal.throwIfAborted();
            counts[page.type] = (counts[page.type] ?? 0) + page.lines.length;
            progress.show(total(counts));
          });
          await (file ? file.write(begun.end, texts) : printAll(io, texts));
        });
        await file?.finish();
        progress.clear();
        tell(io, await describeLeftOut(sql, shopId));
      });
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      const goOn = file ? ' To go on, run the same command again.' : '';
      tell(io, `Interrupted after ${total(counts).toLocaleString('en')} records.${goOn}`);
      return error.exitStatus;
    } finally {
      progress.clear();
    }
    if (json) printJson(io, { shop: shopId, file: output, counts });
    else if (output !== undefined) {
      const each = Object.entries(counts).map(([type, count]) => `${count} of type ${type}`);
      print(io, `Wrote ${total(counts)} records to ${output}: ${each.join(', ')}.`);
    }
    return exitStatus.done;
  },
});

const total = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

interface Begun {
  /** To be written; undefined if it is written already. */
  readonly header: ShopHeader | undefined;
  readonly counts: Counts;
  readonly after: Position | undefined;
  readonly end: number;
}

/** Finds what an earlier run has written of the same state of the shop. */
async function begin(
  sql: Sql | Transaction,
  shop: Shop,
  file: PartialFile | undefined,
  io: Io,
): Promise<Begun> {
  const header = await headerOf(sql, shop, new Date(systemClock.now()));
  const fresh: Begun = { header, counts: {}, after: undefined, end: 0 };
  let begun = fresh;
  for await (const { line, end } of file?.lines() ?? []) {
    if (begun.header && withoutTime(line) !== withoutTime(JSON.stringify(header))) {
      tell(io, 'The file of the run before is of another state of the shop. Starting again.');
      return fresh;
    }
    const [, type, recordId] = /^\{"type":"(\w+)","id":(\d+)/.exec(line) ?? [];
    const known = recordTypes.find((each) => each === type);
    if (!known) begun = { ...begun, header: undefined, end };
    else {
      begun.counts[known] = (begun.counts[known] ?? 0) + 1;
      begun = { ...begun, after: { type: known, id: Number(recordId) }, end };
    }
  }
  return begun;
}

/** What is the same in all headers of one state of a shop. */
const withoutTime = (header: string) => header.replace(/,"exportedAt":"[^"]+"/, '');

async function* textsOf(
  header: ShopHeader | undefined,
  pages: AsyncIterable<ExportPage>,
  note: (page: ExportPage) => void,
): AsyncGenerator<string> {
  if (header) yield `${JSON.stringify(header)}\n`;
  for await (const page of pages) {
    note(page);
    yield `${page.lines.join('\n')}\n`;
  }
}

/** Which of some tables have rows of a shop, and how many. @param tables each with what its rows are, in the plural */
export async function describeRows(
  sql: Sql,
  shopId: number,
  tables: Readonly<Record<string, string>>,
): Promise<string[]> {
  const found: string[] = [];
  for (const [table, what] of Object.entries(tables)) {
    const rows = await countRows(sql, table, shopId);
    if (rows > 0) found.push(`${rows} ${what}`);
  }
  return found;
}

async function describeLeftOut(sql: Sql, shopId: number): Promise<string> {
  const found = await describeRows(sql, shopId, leftOut);
  const parts = [...found, 'the log of requests', 'where syncs stand'];
  return `Not exported, because it belongs to this installation: ${parts.join(', ')}.`;
}
