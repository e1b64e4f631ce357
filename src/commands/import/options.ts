import { UsageError } from '../../errors.ts';
import { type RecordType, deletionOrder } from '../../records/records.ts';
import { Snapshot } from '../../ingest/snapshot.ts';
import type { Platform } from '../../platforms/platform.ts';
import { findPlatform, platforms } from '../../platforms/registry.ts';
import type { Value } from '../framework/parameters.ts';

/** A platform whose exports can be imported. */
export const exportSource: Value<Platform> = {
  hint: 'SOURCE',
  choices: platforms.map(({ name }) => name),
  read(typed, name) {
    const platform = findPlatform(typed);
    if (platform) return platform;
    const names = platforms.map((each) => each.name).join(' or ');
    throw new UsageError(`${name} must be ${names}, not "${typed}".`);
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
  readonly allowShrink: boolean;
}

/** @throws UsageError for options that need --complete */
export function snapshotOf({
  complete,
  types,
  allowShrink,
}: SnapshotOptions): Snapshot | undefined {
  if (complete) return new Snapshot({ types, allowShrink });
  if (types) throw new UsageError('--types needs --complete.');
  if (allowShrink) throw new UsageError('--allow-shrink needs --complete.');
  return undefined;
}
