import { UsageError } from '../../errors.ts';
import { type RecordType, deletionOrder } from '../../records/records.ts';
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

function parseTypes(text: string): RecordType[] {
  return text.split(',').map((name) => {
    const type = deletionOrder.find((each) => each === name.trim());
    if (type) return type;
    const known = deletionOrder.toReversed().join(', ');
    throw new UsageError(`--types takes some of ${known}, joined by commas, not "${text}".`);
  });
}
