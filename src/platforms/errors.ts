import { CommandError } from '../errors.ts';

/**
 * A platform refused a request, or was unavailable for too long. The message is one sentence.
 * `refused`: a retry will not help; `unavailable`: it may.
 */
export class PlatformError extends CommandError {
  readonly kind: 'refused' | 'unavailable';

  constructor(kind: PlatformError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A platform does not accept a shop's credentials: nothing will succeed until they are replaced. */
export class CredentialsRefused extends PlatformError {
  constructor(message: string) {
    super('refused', message);
  }
}

/** A job failed in a way that no retry can fix. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
}
