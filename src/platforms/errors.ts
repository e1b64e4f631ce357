import { CommandError } from '../errors.ts';

/**
 * A platform refused a request, or was unavailable for too long. The message is one sentence.
 * `refused`: a retry will not help; `unavailable`: it may.
 */
export class PlatformError extends CommandError {
  readonly kind: 'refused' | 'unavailable';
  /** The message in words for the shop's owner. */
  readonly reason: string;
  /** The field of the credentials that it is about, if that is not the first. */
  readonly field: string | undefined = undefined;

  /** @param advice what the operator can do, which owners are not told */
  constructor(kind: PlatformError['kind'], message: string, advice?: string) {
    super(advice === undefined ? message : `${message} ${advice}`);
    this.kind = kind;
    this.reason = message;
  }
}

/** A platform does not accept a shop's credentials: nothing will succeed until they are replaced. */
export class CredentialsRefused extends PlatformError {
  constructor(message: string, advice?: string) {
    super('refused', message, advice);
  }
}

/** A stream of rows cannot be read as it is described. */
export class StreamError extends PlatformError {
  override readonly field = 'streams';

  constructor(stream: string, message: string, kind: PlatformError['kind'] = 'refused') {
    super(kind, `stream ${stream}: ${message}`);
  }
}

/** Credentials are valid, and lack permissions. */
export class Forbidden extends PlatformError {
  readonly missing: readonly string[];

  constructor(missing: readonly string[], { lacks, at }: Record<'lacks' | 'at', string>) {
    const all = new Intl.ListFormat('en-GB').format(missing);
    super('refused', `${lacks} that are needed: ${all}. Edit it at ${at}.`);
    this.missing = missing;
  }
}

/** A job failed in a way that no retry can fix. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
}
