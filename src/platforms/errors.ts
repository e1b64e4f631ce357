import { CommandError } from '../errors.ts';

/**
 * A platform that refuses, or cannot be reached for too long, said in one sentence.
 * `refused`: asking again changes nothing; `unavailable`: it may.
 */
export class PlatformError extends CommandError {
  readonly kind: 'refused' | 'unavailable';

  constructor(kind: PlatformError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A job that fails however often it is tried. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
}
