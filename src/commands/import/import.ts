import { readdirSync } from 'node:fs';
import os from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../clock.ts';
import { CommandError } from '../../errors.ts';
import { importShopOf } from '../../ingest/apply.ts';
import { ReadProgress, RefusedLines, checkFiles } from '../../ingest/files.ts';
import {
  type ImportCounts,
  importRecords,
  linesPerServerTransaction,
} from '../../ingest/import.ts';
import type { Snapshot } from '../../ingest/snapshot/snapshot.ts';
import { findKeeper, warningOf, whyFileNotTaken, whyNotTaken } from '../../platforms/keeper.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Sql } from '../../store/database.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  print,
  printJson,
  tell,
} from '../command.ts';
import { withShop } from '../keys.ts';
import { createProgress } from '../terminal/progress.ts';
import { visible } from '../../log/visible.ts';
import { type Feed, feedOf } from './feed.ts';
import {
  Interrupted,
  describeUnfinished,
  explainFullDisk,
  onInterruption,
} from './interruption.ts';
import { RefusalReport } from './refusals.ts';
import { snapshotOf } from './options.ts';
import { type Figures, rehearse } from './rehearsal.ts';
import { describeCounts, describeFigures, describeSkipped, describeSnapshot } from './report.ts';

export const importCommand: Command = {
  name: 'import',
  synopsis:
    '--shop ID [--from SOURCE | --mapping FILE [--as-of TIME]] [--complete [--types TYPES] [--allow-shrink]] [--dry-run] [--refused FILE] [--take-over] [--json] FILE…',
  summary: 'imports records, one JSON object per line',
  details: [
    'FILE       NDJSON; a name that ends in .gz is unpacked; - is standard input',
    ...platforms.map(
      ({ name, title }) => `--from     ${name}: FILE is an export of ${title}, see docs/${name}.md`,
    ),
    '--mapping  FILE is an export of another platform, CSV or JSON, see docs/mappings.md',
    '--as-of    when that file was exported; an older export then never replaces a newer one',
    '--complete the files have everything of the types of records in them: deletes what they do not have',
    '--types    what they have everything of instead, such as plan,subscription',
    '--allow-shrink  deletes even if more than a fifth of a type is gone',
    '--dry-run  stores nothing: imports into a copy of the shop, and shows the figures before and after',
    '--refused  the file for refused lines and their reasons (FILE.refused.ndjson)',
    '--take-over  also imports plans, subscriptions, payments and refunds into a shop that is synced with a platform',
    'Importing a file again changes nothing; after a crash or Ctrl-C, just run it again.',
  ],
  options: {
    shop: { type: 'string' },
    from: { type: 'string' },
    mapping: { type: 'string' },
    'as-of': { type: 'string' },
    complete: { type: 'boolean' },
    types: { type: 'string' },
    'allow-shrink': { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    refused: { type: 'string' },
    'take-over': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  positionals: [1, Infinity],
  values: { '--from': platforms.map(({ name }) => name) },
  async run(context) {
    giveWay();
    const { options, positionals: files } = context;
    const feed = await feedOf(options);
    const snapshot = snapshotOf(options);
    const isDryRun = options['dry-run'] === true;
    const reading = new ReadProgress(await checkFiles(files));
    const chosen = typeof options['refused'] === 'string' ? options['refused'] : undefined;
    // Those of an earlier run stay beside their files.
    const refused = isDryRun && chosen === undefined ? undefined : new RefusedLines(chosen);

    const { counts, figures, interrupted } = await withShop(context, (store, shop) =>
      runImport({ context, store, shop, feed, snapshot, isDryRun, reading, refused }),
    );

    if (options['json']) {
      printJson({
        shop: Number(options['shop']),
        ...(isDryRun && { dryRun: true }),
        ...(interrupted && { interrupted: true }),
        counts,
        ...(snapshot?.outcome && { snapshot: snapshot.outcome }),
        ...(figures && { figures }),
      });
    } else {
      print(describeCounts(counts, interrupted !== undefined));
      if (figures) print(`\n${describeFigures(figures)}`);
    }
    if (feed.skipped.rows > 0) tell(describeSkipped(feed.skipped.rows));
    const isAnyRefused = Object.values(counts).some((each) => each.refused > 0);
    if (refused && isAnyRefused) {
      tell(`Refused lines and their reasons are in ${refused.written.join(', ')}.`);
    }
    if (interrupted) {
      const done = isDryRun ? 'nothing was stored.' : describeUnfinished(counts);
      tell(`Interrupted: ${done}`);
      if (snapshot && !isDryRun) tell('Nothing was deleted.');
      return interrupted.exitStatus;
    }
    if (isDryRun) tell('This was a dry run: nothing was stored.');
    const remarks = snapshot?.outcome ? describeSnapshot(snapshot.outcome) : [];
    if (snapshot?.outcome?.kind === 'shrunk') throw new CommandError(remarks.join(' '));
    for (const remark of remarks) tell(remark);
    return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
  },
};

/** The machine may also serve requests, which cannot wait. */
function giveWay(): void {
  const usual = os.constants.priority.PRIORITY_BELOW_NORMAL;
  try {
    // Linux has a priority for each thread, and collecting garbage takes several.
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task') : [process.pid];
    for (const thread of threads.map(Number)) {
      // It may have been started with a lower one, which has the higher number.
      if (os.getPriority(thread) < usual) os.setPriority(thread, usual);
    }
  } catch {
    // Some sandboxes refuse it; the import works as well.
  }
}

interface Run {
  readonly context: CommandContext;
  readonly store: Store;
  readonly shop: Shop;
  readonly feed: Feed;
  readonly snapshot: Snapshot | undefined;
  readonly isDryRun: boolean;
  readonly reading: ReadProgress;
  /** Undefined if refused lines are only reported. */
  readonly refused: RefusedLines | undefined;
}

interface Outcome {
  readonly counts: ImportCounts;
  /** Of a dry run that was not interrupted. */
  readonly figures?: Figures;
  readonly interrupted?: Interrupted;
}

async function runImport(run: Run): Promise<Outcome> {
  const { context, store, shop, feed, snapshot, isDryRun, reading, refused } = run;
  const { config, log, options, positionals: files } = context;
  const keeper = await findKeeper(store.write, shop.id);
  const takesOver = options['take-over'] === true;
  if (keeper && takesOver) tell(warningOf(keeper));
  if (keeper && !takesOver && feed.platform === keeper.platform) {
    throw new CommandError(whyFileNotTaken(keeper, shop.id));
  }
  if (feed.warning !== undefined) tell(feed.warning);
  await refused?.clear(files);
  const signal = onInterruption();
  const share = () => reading.share;
  // A platform's files are read to their end before the first record is stored.
  const progress = createProgress('records', feed.platform ? undefined : share);
  const lineProgress = createProgress('lines read', share);
  const report = new RefusalReport(process.stderr.isTTY, (text) => {
    progress.clear();
    tell(visible(text));
  });
  const importShop = importShopOf(shop);
  const counts: ImportCounts = {};
  const isEmbedded = config.databaseUrl === undefined;
  const importInto = (sql: Sql, clock: Clock) =>
    importRecords(feed.open(files, importShop, { signal, progress: reading }, lineProgress.show), {
      sql,
      shop: importShop,
      feed: feed.name,
      clock,
      log,
      signal,
      counts,
      ...(snapshot && { snapshot }),
      isFromFeed: feed.name !== 'records',
      ...(!isEmbedded && { linesPerTransaction: linesPerServerTransaction }),
      ...(keeper && !takesOver && { whyNotTaken: whyNotTaken(keeper, shop.id) }),
      async refuse(source, line, reason) {
        report.add(source, line.number, reason);
        await refused?.add(source, line, reason);
        // Yield, so that Ctrl-C works even if every line is refused.
        if (line.number % 1000 === 0) await turn();
      },
      progress: (settled) => progress.show(settled),
    });
  try {
    if (isDryRun) {
      const place = { isEmbedded, signal };
      return { counts, figures: await rehearse(store.write, shop, place, importInto) };
    }
    await importInto(store.write, systemClock);
    return { counts };
  } catch (error) {
    if (error instanceof Interrupted) return { counts, interrupted: error };
    throw explainFullDisk(error, isDryRun ? undefined : counts);
  } finally {
    lineProgress.clear();
    progress.clear();
    report.finish();
    await refused?.close();
  }
}
