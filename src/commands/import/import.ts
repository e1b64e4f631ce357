import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../clock.ts';
import { CommandError } from '../../errors.ts';
import { importShopOf } from '../../ingest/apply.ts';
import { openExport } from '../../ingest/exports/header.ts';
import { ReadProgress, RefusedLines, checkFiles } from '../../ingest/files.ts';
import {
  type ImportCounts,
  importRecords,
  linesPerServerTransaction,
  noteImport,
} from '../../ingest/import.ts';
import type { Snapshot } from '../../ingest/snapshot.ts';
import { type Figures, rehearse } from '../../metrics/rehearse.ts';
import { listKeepers, warningOf, whyFileNotTaken, whyNotTaken } from '../../platforms/keeper.ts';
import type { Sql } from '../../store/database.ts';
import { ensureCustomerKey } from '../../store/records/customer-keys.ts';
import { appendEntry } from '../../store/owners/audit.ts';
import { countUndated } from '../../store/records/sightings.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { visible } from '../../log/visible.ts';
import {
  type Context,
  defineCommand,
  exitStatus,
  flag,
  optional,
  several,
  text,
} from '../framework/command.ts';
import { tell, createProgress } from '../framework/io.ts';
import { shopOption, withShop } from '../store.ts';
import {
  type Feed,
  feedOf,
  exporters,
  exportSource,
  goneWord,
  recordTypes,
  snapshotOf,
} from './options.ts';
import {
  Interrupted,
  describeUnfinished,
  explainFullDisk,
  onInterruption,
} from './interruption.ts';
import {
  RefusalReport,
  describeCounts,
  describeFigures,
  describeSkipped,
  describeSnapshot,
  describeUndated,
} from './report.ts';

export const importCommand = defineCommand({
  name: 'import',
  acts: ['import_started'],
  about: 'imports records, one JSON object per line',
  notes: ['Importing a file again changes nothing; after a crash or Ctrl-C, just run it again.'],
  arguments: {
    files: several(
      text('FILE'),
      'NDJSON; a name that ends in .gz is unpacked; - is standard input',
    ),
  },
  options: {
    ...shopOption,
    from: optional(
      exportSource,
      `where FILE was exported, see ${exporters.map(({ name }) => `docs/${name}.md`).join(', ')}`,
    ),
    mapping: optional(
      text('FILE'),
      'instead of --from: FILE is an export of another platform, CSV or JSON, see docs/mappings.md',
    ),
    asOf: optional(
      text('TIME'),
      'when the files were exported; an older export then never replaces a newer one',
    ),
    complete: flag(
      'the files have everything of the types of records in them: what they do not have is gone',
    ),
    types: optional(
      recordTypes,
      'with --complete: what they have everything of instead, such as plan,subscription',
    ),
    gone: optional(
      goneWord,
      'with --complete: what becomes of subscriptions that are gone (default: cancelled with --mapping, else deleted); all else is deleted',
    ),
    allowShrink: flag('with --complete: goes on even if more than a fifth of a type is gone'),
    dryRun: flag(
      'stores nothing: imports into a copy of the shop, and shows the figures before and after',
    ),
    refused: optional(
      text('FILE'),
      'the file for refused lines and their reasons (FILE.refused.ndjson)',
    ),
    takeOver: flag(
      'also imports plans, subscriptions, payments and refunds into a shop that is synced with a platform',
    ),
  },
  async run(given, context) {
    const { files, shop: shopId, dryRun: isDryRun, takeOver } = given;
    context.io.giveWay();
    const feed = await feedOf(given);
    const snapshot = snapshotOf(given);
    const reading = new ReadProgress(await checkFiles(files));
    // Those of an earlier run stay beside their files.
    const refused =
      isDryRun && given.refused === undefined ? undefined : new RefusedLines(given.refused);
    const outcome = await withShop(context, shopId, (store, shop) =>
      runImport({
        context,
        store,
        shop,
        files,
        feed,
        snapshot,
        isDryRun,
        takeOver,
        reading,
        refused,
      }),
    );
    return { ...outcome, shop: shopId, isDryRun, feed, snapshot, refused };
  },
  document: ({ shop, isDryRun, interrupted, counts, snapshot, figures, undated }) => ({
    shop,
    ...(isDryRun && { dryRun: true }),
    ...(interrupted && { interrupted: true }),
    counts,
    ...(snapshot?.outcome && { snapshot: snapshot.outcome }),
    ...(figures && { figures }),
    ...(undated > 0 && { undatedSubscriptions: undated }),
  }),
  show: ({ counts, figures, interrupted }) =>
    [
      describeCounts(counts, interrupted !== undefined),
      ...(figures ? ['', describeFigures(figures)] : []),
    ].join('\n'),
  end({ feed, counts, refused, interrupted, snapshot, isDryRun, undated }, { io }) {
    if (feed.skipped.rows > 0) tell(io, describeSkipped(feed.skipped.rows));
    if (undated > 0) tell(io, describeUndated(undated));
    const isAnyRefused = Object.values(counts).some((each) => each.refused > 0);
    if (refused && isAnyRefused) {
      tell(io, `Refused lines and their reasons are in ${refused.written.join(', ')}.`);
    }
    if (interrupted) {
      const done = isDryRun ? 'nothing was stored.' : describeUnfinished(counts);
      tell(io, `Interrupted: ${done}`);
      if (snapshot && !isDryRun) tell(io, 'Nothing was deleted or cancelled.');
      return interrupted.exitStatus;
    }
    if (isDryRun) tell(io, 'This was a dry run: nothing was stored.');
    const remarks = snapshot?.outcome ? describeSnapshot(snapshot.outcome) : [];
    if (snapshot?.outcome?.kind === 'shrunk') throw new CommandError(remarks.join(' '));
    for (const remark of remarks) tell(io, remark);
    return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
  },
});

interface Run {
  readonly context: Context;
  readonly store: Store;
  readonly shop: Shop;
  readonly files: readonly string[];
  readonly feed: Feed;
  readonly snapshot: Snapshot | undefined;
  readonly isDryRun: boolean;
  readonly takeOver: boolean;
  readonly reading: ReadProgress;
  /** Undefined if refused lines are only reported. */
  readonly refused: RefusedLines | undefined;
}

interface Outcome {
  readonly counts: ImportCounts;
  /** Of a dry run that was not interrupted. */
  readonly figures?: Figures;
  readonly interrupted?: Interrupted;
  /** Subscriptions with a status since an unknown time, once all is imported. */
  readonly undated: number;
}

async function runImport(run: Run): Promise<Outcome> {
  const { context, store, shop, files, feed, snapshot, isDryRun, takeOver, reading, refused } = run;
  const { config, log, io } = context;
  const keepers = await listKeepers(store.write, shop.id);
  for (const keeper of keepers) {
    if (takeOver) tell(io, warningOf(keeper));
    else if (feed.platform === keeper.platform) {
      throw new CommandError(whyFileNotTaken(keeper, shop.id));
    }
  }
  if (feed.warning !== undefined) tell(io, feed.warning);
  await refused?.clear(files);
  const signal = onInterruption(io);
  const share = () => reading.share;
  // A platform's files are read to their end before the first record is stored.
  const progress = createProgress(io, 'records', feed.platform ? undefined : share);
  const lineProgress = createProgress(io, 'lines read', share);
  const tellLine = (line: string) => {
    progress.clear();
    tell(io, visible(line));
  };
  const report = new RefusalReport(io.stderr.isTTY === true, tellLine);
  const warnings = new RefusalReport(io.stderr.isTTY === true, tellLine, 'warned');
  const importShop = importShopOf(shop);
  const counts: ImportCounts = {};
  const isEmbedded = config.databaseUrl === undefined;
  const isOfRecords = feed.name === 'records';
  let undated = 0;
  const importInto = async (sql: Sql, clock: Clock) => {
    const sources = feed.open(
      files,
      importShop,
      {
        signal,
        progress: reading,
        stdin: io.stdin,
        // A dry run's copy has the shop's key. If there is none, that of the copy goes with it.
        customerKey: await ensureCustomerKey(sql, shop.id),
      },
      lineProgress.show,
    );
    const opened = isOfRecords
      ? await openExport(sources, { sql, shop: importShop })
      : { sources, isExport: false };
    await importRecords(opened.sources, {
      sql,
      shop: importShop,
      feed: feed.name,
      clock,
      log,
      signal,
      counts,
      ...(snapshot && { snapshot }),
      isFromFeed: !isOfRecords || opened.isExport,
      ...(!opened.isExport && { asOf: feed.asOf }),
      ...(!isEmbedded && { linesPerTransaction: linesPerServerTransaction }),
      ...(!takeOver && { whyNotTaken: whyNotTaken(keepers, shop.id) }),
      async refuse(source, line, reason, record) {
        report.add(source, line.number, reason, record);
        await refused?.add(source, line, reason, record);
        // Yield, so that Ctrl-C works even if every line is refused.
        if (line.number % 1000 === 0) await turn();
      },
      warn: (source, line, warning) => warnings.add(source, line, warning),
      progress: (settled) => progress.show(settled),
    });
    undated = await countUndated(sql, shop.id);
  };
  try {
    if (isDryRun) {
      const place = { isEmbedded, signal };
      const figures = await rehearse(store.write, shop, place, importInto);
      return { counts, figures, undated };
    }
    await appendEntry(store.write, shop.id, {
      at: new Date(systemClock.now()),
      by: context.actor,
      what: 'import_started',
      target: `${files.length === 1 ? 'a file' : `${files.length} files`} (${feed.name})`,
    });
    await importInto(store.write, systemClock);
    await noteImport(store.write, shop, counts, systemClock.now());
    return { counts, undated };
  } catch (error) {
    if (error instanceof Interrupted) return { counts, undated, interrupted: error };
    throw explainFullDisk(error, isDryRun ? undefined : counts);
  } finally {
    lineProgress.clear();
    progress.clear();
    report.finish();
    warnings.finish();
    await refused?.close();
  }
}
