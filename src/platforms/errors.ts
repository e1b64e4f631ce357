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

/** A job failed in a way that no retry can fix. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
}
