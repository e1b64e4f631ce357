import { z } from 'zod';
import { systemClock } from '../../clock.ts';
import { UsageError } from '../../errors.ts';
import { type TargetType, deletionOrder } from '../../ingest/record.ts';
import { Snapshot } from '../../ingest/snapshot/snapshot.ts';
import type { CommandContext } from '../command.ts';

type Options = CommandContext['options'];

/** @throws UsageError for options that need --complete, or types that do not exist */
export function snapshotOf(options: Options): Snapshot | undefined {
  const { types, complete } = options;
  const allowShrink = options['allow-shrink'] === true;
  if (complete !== true) {
    if (types !== undefined) throw new UsageError('--types needs --complete.');
    if (allowShrink) throw new UsageError('--allow-shrink needs --complete.');
    return undefined;
  }
  return new Snapshot({
    types: typeof types === 'string' ? parseTypes(types) : undefined,
    allowShrink,
  });
}

function parseTypes(text: string): TargetType[] {
  return text.split(',').map((name) => {
    const type = deletionOrder.find((each) => each === name.trim());
    if (type) return type;
    const known = deletionOrder.toReversed().join(', ');
    throw new UsageError(`--types takes some of ${known}, joined by commas, not "${text}".`);
  });
}

const instant = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/**
 * When the files were exported.
 * @throws UsageError if it is no time, is in the future, or is not for a mapping
 */
export function exportDateOf({ 'as-of': text, mapping }: Options): Date | undefined {
  if (typeof text !== 'string') return undefined;
  if (mapping === undefined) throw new UsageError('--as-of needs --mapping.');
  if (!instant.safeParse(text).success) {
    throw new UsageError(
      `--as-of takes a date or an ISO 8601 time with an offset or Z, such as 2026-11-21 or 2026-11-21T16:00:00Z, not "${text}".`,
    );
  }
  const date = new Date(text);
  if (date.getTime() > systemClock.now()) {
    throw new UsageError(`--as-of must not be in the future, as ${text} is.`);
  }
  return date;
}
