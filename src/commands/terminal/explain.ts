import { CommandError, UsageError, describeError } from '../../errors.ts';
import { redact } from '../../log/log.ts';
import { exitStatus, tell } from '../command.ts';

/**
 * Explains what the user can fix in a sentence; anything else is a bug and shown in full.
 * @returns the exit status of the command that failed
 */
export function explain(error: unknown): number {
  const isOurs = error instanceof UsageError || error instanceof CommandError;
  tell(redact(`retention: ${isOurs ? error.message : describeError(error)}`));
  return error instanceof UsageError ? exitStatus.wrongUsage : exitStatus.failed;
}
