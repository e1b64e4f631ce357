import { CommandError, UsageError, describeError } from '../../errors.ts';
import { redact } from '../../log/log.ts';
import { exitStatus } from './command.ts';
import { type Io, tell } from './io.ts';

/**
 * Explains what the user can fix in a sentence; anything else is a bug and shown in full.
 * @returns the exit status of the command that failed
 */
export function explain(error: unknown, io: Io): number {
  const isOurs = error instanceof UsageError || error instanceof CommandError;
  tell(io, redact(`retention: ${isOurs ? error.message : describeError(error)}`));
  return error instanceof UsageError ? exitStatus.wrongUsage : exitStatus.failed;
}
