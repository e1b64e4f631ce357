import { tell } from './command.ts';

const patienceMilliseconds = 3_000;

/** Waits for the commit of a revocation, and says what keeps it where that takes long. */
export async function committed<Result>(revocation: Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => {
    tell(
      'The database has not confirmed the revocation yet. Where synchronous_standby_names is set, it waits for a standby; until this command ends, a failover can undo it.',
    );
  }, patienceMilliseconds);
  try {
    return await revocation;
  } finally {
    clearTimeout(timer);
  }
}
