import { systemClock } from '../../clock.ts';
import { UsageError } from '../../errors.ts';
import type { ImportShop } from '../../ingest/apply.ts';
import { type ReadOptions, openSource } from '../../ingest/files.ts';
import type { LineSource } from '../../ingest/import.ts';
import { needsAsOf, parseAsOf, lacksEndDates, readMapping } from '../../mapping/read.ts';
import { type MappedOptions, openMapped } from '../../mapping/open.ts';
import { feedsOf, platforms } from '../../platforms/registry.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { FeedName } from '../../vocabulary.ts';
import { type RecordType, deletionOrder } from '../../records/records.ts';
import { type Gone, goneWords } from '../../store/records/sightings.ts';
import { Snapshot } from '../../ingest/snapshot.ts';
import type { Value } from '../framework/command.ts';

/** The kind of the files, and how they become lines of records. */
export interface Feed {
  readonly name: FeedName;
  /** Whose export files they are. */
  readonly platform?: Platform;
  /** When records without a date of their own were exported, in epoch milliseconds. */
  readonly asOf?: number | undefined;
  /** What to know before the files are read. */
  readonly warning?: string;
  /** Rows that matched no rule of the mapping; counted while it is read. */
  readonly skipped: { rows: number };
  /** @param linesRead called with the lines read so far, if all are read before any is stored */
  open(
    files: readonly string[],
    shop: ImportShop,
    reading: ReadOptions & Pick<MappedOptions, 'customerKey'>,
    linesRead: (lines: number) => void,
  ): Iterable<LineSource>;
}

const undatedCancellations =
  'The mapping has no dates of cancellations, so each counts at the date of the first export that has it, or in no period if none before shows it otherwise. If the file has them, map them in statusEvents (docs/mappings.md).';

interface FeedOptions {
  readonly from: Platform | undefined;
  readonly mapping: string | undefined;
  readonly asOf: string | undefined;
}

/**
 * @throws UsageError for options that exclude each other, or an invalid mapping file
 * @throws CommandError for a mapping file that cannot be read
 */
export async function feedOf({ from: platform, mapping, ...options }: FeedOptions): Promise<Feed> {
  const asOf = options.asOf === undefined ? undefined : parseAsOf(options.asOf, systemClock);
  const skipped = { rows: 0 };
  if (platform && mapping !== undefined) {
    throw new UsageError('--from and --mapping cannot be given together.');
  }
  if (asOf !== undefined && platform) {
    throw new UsageError('--from and --as-of cannot be given together.');
  }
  if (mapping !== undefined) {
    const rules = await readMapping(mapping);
    if (asOf === undefined && needsAsOf(rules)) {
      throw new UsageError(
        `${mapping} has times that count back from the date of the export; give that date, such as --as-of 2026-11-01.`,
      );
    }
    return {
      name: 'export',
      ...(lacksEndDates(rules) && { warning: undatedCancellations }),
      skipped,
      open: (files, shop, reading) => {
        const each = { ...reading, asOf };
        return files.map((file) => openMapped(file, rules, shop, systemClock, skipped, each));
      },
    };
  }
  if (!platform) {
    return {
      name: 'records',
      asOf,
      skipped,
      open: (files, _, reading) => files.map((file) => openSource(file, reading)),
    };
  }
  const readFiles = await platform.openFiles?.();
  if (!readFiles) throw new UsageError(`${platform.title} has no export files.`);
  return {
    name: feedsOf(platform).file,
    platform,
    skipped,
    open: (files, shop, reading, linesRead) => {
      const sources = files.map((file) => openSource(file, reading));
      return [{ name: platform.name, lines: readFiles(sources, shop, linesRead) }];
    },
  };
}

/** The platforms whose exports can be imported. */
export const exporters = platforms.filter(({ openFiles }) => openFiles !== undefined);

export const exportSource: Value<Platform> = {
  hint: 'SOURCE',
  choices: exporters.map(({ name }) => name),
  read(typed, name) {
    const platform = exporters.find((each) => each.name === typed);
    if (platform) return platform;
    const names = exporters.map((each) => each.name).join(' or ');
    throw new UsageError(`${name} must be ${names}, not "${typed}".`);
  },
};

/** What becomes of subscriptions that are not in the input. */
export const goneWord: Value<Gone> = {
  hint: goneWords.join('|'),
  choices: goneWords,
  read(typed, name) {
    const word = goneWords.find((each) => each === typed);
    if (word) return word;
    throw new UsageError(`${name} must be ${goneWords.join(' or ')}, not "${typed}".`);
  },
};

/** Types of records. */
export const recordTypes: Value<readonly RecordType[]> = {
  hint: 'TYPES',
  read: (typed, option) =>
    typed.split(',').map((name) => {
      const type = deletionOrder.find((each) => each === name.trim());
      if (type) return type;
      const known = deletionOrder.toReversed().join(', ');
      throw new UsageError(`${option} takes some of ${known}, joined by commas, not "${typed}".`);
    }),
};

interface SnapshotOptions {
  readonly complete: boolean;
  readonly types: readonly RecordType[] | undefined;
  readonly gone: Gone | undefined;
  readonly allowShrink: boolean;
  readonly mapping: string | undefined;
}

/** @throws UsageError for options that need --complete */
export function snapshotOf({
  complete,
  types,
  gone,
  allowShrink,
  mapping,
}: SnapshotOptions): Snapshot | undefined {
  if (complete) {
    const usual = mapping === undefined ? 'deleted' : 'cancelled';
    return new Snapshot({ types, allowShrink, gone: gone ?? usual });
  }
  if (gone) throw new UsageError('--gone needs --complete.');
  if (types) throw new UsageError('--types needs --complete.');
  if (allowShrink) throw new UsageError('--allow-shrink needs --complete.');
  return undefined;
}
