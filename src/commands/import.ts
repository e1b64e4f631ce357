import { readBulkResults } from '../feeds/shopify/bulk.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { RefusedLines, checkFiles, openSource } from '../ingest/files.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type ImportCounts, type LineSource, importRecords } from '../ingest/import.ts';
import { UsageError } from '../errors.ts';
import { minorDigitsOf } from '../money.ts';
import { type Command, exitStatus, formatTable, print, printJson, tell } from './command.ts';
import { withShop } from './keys.ts';
import { createProgress } from './progress.ts';

export const importCommand: Command = {
  name: 'import',
  synopsis: '--shop ID [--from SOURCE] [--refused FILE] [--json] FILE…',
  summary: 'takes in records: one JSON object a line',
  details: [
    'FILE       NDJSON; a name that ends in .gz is unpacked; - is standard input',
    '--from     shopify: FILE is a result of Shopify bulk operations, see docs/shopify.md',
    '--refused  where refused lines go with their reasons (FILE.refused.ndjson)',
    'Importing a file again changes nothing; after a crash, just run it again.',
  ],
  options: {
    shop: { type: 'string' },
    from: { type: 'string' },
    refused: { type: 'string' },
    json: { type: 'boolean' },
  },
  positionals: [1, Infinity],
  async run(context) {
    const { log, options, positionals: files } = context;
    const chosen = options['refused'];
    const feed = feedOf(options['from']);
    const refused = new RefusedLines(typeof chosen === 'string' ? chosen : undefined);
    await checkFiles(files);

    const counts = await withShop(context, async (store, shop) => {
      await refused.forget(files);
      const progress = createProgress('records');
      const reading = createProgress('lines read');
      const importShop = {
        id: shop.id,
        currency: shop.currency,
        minorDigits: minorDigitsOf(shop.currency) ?? 2,
      };
      const sources = files.map(openSource);
      try {
        return await importRecords(feed ? [feed(sources, importShop, reading.show)] : sources, {
          sql: store.write,
          shop: importShop,
          feed: feed ? 'shopify-file' : 'records',
          clock: systemClock,
          log,
          isFromFeed: feed !== undefined,
          // Everybody waits for a transaction of the embedded database; on a server only those who
          // import for the same shop do.
          ...(context.config.databaseUrl !== undefined && { linesPerTransaction: 12_000 }),
          async refuse(source, line, reason) {
            progress.clear();
            tell(`${source}:${line.number}: ${reason}`);
            await refused.add(source, line, reason);
            // A file of nothing but bad lines must not keep Ctrl-C waiting.
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
    const isAnyRefused = Object.values(counts).some((each) => each.refused > 0);
    if (isAnyRefused) {
      tell(`Refused lines and their reasons are in ${refused.written.join(', ')}.`);
    }
    return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
  },
};

/** Makes records of what a platform exports. */
type Feed = (
  sources: readonly LineSource[],
  shop: ImportShop,
  progress: (lines: number) => void,
) => LineSource;

const feeds: ReadonlyMap<string, Feed> = new Map([
  [
    'shopify',
    (sources, shop, progress) => ({
      name: 'shopify',
      lines: readBulkResults(sources, shop, { progress }),
    }),
  ],
]);

/** @throws UsageError for a source that is not known */
function feedOf(option: string | boolean | undefined): Feed | undefined {
  if (typeof option !== 'string') return undefined;
  const feed = feeds.get(option);
  if (feed) return feed;
  throw new UsageError(`--from must be ${[...feeds.keys()].join(' or ')}, not "${option}".`);
}

function describe(counts: ImportCounts): string {
  const rows = Object.entries(counts).map(([type, each]) => [
    type,
    ...[each.stored, each.replaced, each.unchanged, each.stale, each.refused].map(String),
  ]);
  if (rows.length === 0) return 'There was nothing to import.';
  return formatTable(['TYPE', 'STORED', 'REPLACED', 'UNCHANGED', 'STALE', 'REFUSED'], rows);
}
