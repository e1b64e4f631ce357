import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { needsAsOf, parseAsOf } from '../mapping/as-of.ts';
import { openMapped } from '../mapping/open.ts';
import { readMapping } from '../mapping/read.ts';
import { feedsOf } from '../platforms/feeds.ts';
import { findKeeper, warningOf, whyFileNotTaken, whyNotTaken } from '../platforms/keeper.ts';
import type { Platform } from '../platforms/platform.ts';
import { findPlatform, platforms } from '../platforms/registry.ts';
import { type ImportShop, importShopOf } from '../ingest/apply.ts';
import { RefusedLines, checkFiles, openSource } from '../ingest/files.ts';
import {
  type ImportCounts,
  type LineSource,
  importRecords,
  linesPerServerTransaction,
} from '../ingest/import.ts';
import type { FeedName } from '../vocabulary.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  formatTable,
  print,
  printJson,
  tell,
} from './command.ts';
import { withShop } from './keys.ts';
import { createProgress } from './terminal/progress.ts';
import { visible } from './terminal/visible.ts';

export const importCommand: Command = {
  name: 'import',
  synopsis:
    '--shop ID [--from SOURCE | --mapping FILE [--as-of TIME]] [--refused FILE] [--take-over] [--json] FILE…',
  summary: 'imports records, one JSON object per line',
  details: [
    'FILE       NDJSON; a name that ends in .gz is unpacked; - is standard input',
    ...platforms.map(
      ({ name, title }) => `--from     ${name}: FILE is an export of ${title}, see docs/${name}.md`,
    ),
    '--mapping  FILE is an export of another platform, CSV or JSON, see docs/mappings.md',
    '--as-of    the date of the export, 2026-11-01 or a time, for a mapping whose times count back from it',
    '--refused  the file for refused lines and their reasons (FILE.refused.ndjson)',
    '--take-over  also imports plans, subscriptions, payments and refunds into a shop that is synced with a platform',
    'Importing a file again changes nothing; after a crash, just run it again.',
  ],
  options: {
    shop: { type: 'string' },
    from: { type: 'string' },
    mapping: { type: 'string' },
    'as-of': { type: 'string' },
    refused: { type: 'string' },
    'take-over': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  positionals: [1, Infinity],
  async run(context) {
    const { log, options, positionals: files } = context;
    const chosen = options['refused'];
    const skipped = { rows: 0 };
    const feed = await feedOf(options, skipped);
    const refused = new RefusedLines(typeof chosen === 'string' ? chosen : undefined);
    await checkFiles(files);

    const counts = await withShop(context, async (store, shop) => {
      const keeper = await findKeeper(store.write, shop.id);
      const takesOver = options['take-over'] === true;
      if (keeper && takesOver) tell(warningOf(keeper));
      if (keeper && !takesOver && feed.platform === keeper.platform) {
        throw new CommandError(whyFileNotTaken(keeper, shop.id));
      }
      await refused.clear(files);
      const progress = createProgress('records');
      const reading = createProgress('lines read');
      const importShop = importShopOf(shop);
      try {
        return await importRecords(feed.open(files, importShop, reading.show), {
          sql: store.write,
          shop: importShop,
          feed: feed.name,
          clock: systemClock,
          log,
          isFromFeed: feed.name !== 'records',
          ...(context.config.databaseUrl !== undefined && {
            linesPerTransaction: linesPerServerTransaction,
          }),
          ...(keeper && !takesOver && { whyNotTaken: whyNotTaken(keeper, shop.id) }),
          async refuse(source, line, reason) {
            progress.clear();
            tell(visible(`${source}:${line.number}: ${reason}`));
            await refused.add(source, line, reason);
            // Yield, so that Ctrl-C works even if every line is refused.
            if (line.number % 1000 === 0) await turn();
          },
          progress: (settled) => progress.show(settled),
        });
      } finally {
        reading.clear();
        progress.clear();
        await refused.close();
      }
    });

    if (options['json']) printJson({ shop: Number(options['shop']), counts });
    else print(describe(counts));
    if (skipped.rows > 0) tell(describeSkipped(skipped.rows));
    const isAnyRefused = Object.values(counts).some((each) => each.refused > 0);
    if (isAnyRefused) {
      tell(`Refused lines and their reasons are in ${refused.written.join(', ')}.`);
    }
    return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
  },
};

/** The kind of the files, and how they become lines of records. */
interface Feed {
  readonly name: FeedName;
  /** Whose export files they are. */
  readonly platform?: Platform;
  /** @param progress called with the lines read so far, if all are read before any is stored */
  open(
    files: readonly string[],
    shop: ImportShop,
    progress: (lines: number) => void,
  ): Iterable<LineSource>;
}

const records: Feed = { name: 'records', open: (files) => files.map(openSource) };

/**
 * @param skipped counts rows that match no rule of a mapping
 * @throws UsageError for an unknown source or an invalid mapping file
 * @throws CommandError for a mapping file that cannot be read
 */
async function feedOf(
  { from, mapping, 'as-of': given }: CommandContext['options'],
  skipped: { rows: number },
): Promise<Feed> {
  if (typeof from === 'string' && typeof mapping === 'string') {
    throw new UsageError('--from and --mapping cannot be given together.');
  }
  const asOf = typeof given === 'string' ? parseAsOf(given, systemClock) : undefined;
  if (asOf !== undefined && mapping === undefined) {
    throw new UsageError('--as-of belongs to an export that is read with --mapping.');
  }
  if (typeof mapping === 'string') {
    const rules = await readMapping(mapping);
    if (asOf === undefined && needsAsOf(rules)) {
      throw new UsageError(
        `${mapping} has times that count back from the date of the export; give that date, such as --as-of 2026-11-01.`,
      );
    }
    return {
      name: 'export',
      open: (files, shop) =>
        files.map((file) => openMapped(file, rules, shop, systemClock, skipped, asOf)),
    };
  }
  if (typeof from !== 'string') return records;
  const platform = findPlatform(from);
  if (!platform) {
    const names = platforms.map(({ name }) => name).join(' or ');
    throw new UsageError(`--from must be ${names}, not "${from}".`);
  }
  const { readFiles } = await platform.load();
  return {
    name: feedsOf(platform).file,
    platform,
    open: (files, shop, progress) => [
      { name: from, lines: readFiles(files.map(openSource), shop, progress) },
    ],
  };
}

function describeSkipped(rows: number): string {
  return rows === 1
    ? '1 row matched no rule and was skipped.'
    : `${rows} rows matched no rule and were skipped.`;
}

const columns = ['stored', 'replaced', 'deleted', 'unchanged', 'stale', 'refused'] as const;

function describe(counts: ImportCounts): string {
  const rows = Object.entries(counts).map(([type, each]) => [
    type,
    ...columns.map((column) => String(each[column])),
  ]);
  if (rows.length === 0) return 'There was nothing to import.';
  return formatTable(
    ['type', ...columns].map((name) => name.toUpperCase()),
    rows,
  );
}
