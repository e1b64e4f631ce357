/**
 * Every reason for refusing a caller. Each transport, and the owner's pages, maps the kinds to its
 * own responses with one exhaustive switch.
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'tierRequired'
  | 'scopeRequired'
  | 'notFound'
  | 'rateLimited'
  | 'internal';

/**
 * The only error whose message reaches API callers. Any other error is logged with its cause and
 * answered with a fixed sentence.
 */
export class ServiceError extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    // Its stack is never shown, and recording it would cost more than an answer.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ServiceError';
    this.kind = kind;
  }
}

/** An invalid command line or configuration; the message is printed as it is. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure that the person at the terminal can fix. Exit status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/**
 * Explains why an address cannot be listened on and what to change; returns any other error
 * unchanged.
 * @param prefix of the HOST and PORT variables that set the address
 */
export function listenError(
  error: NodeJS.ErrnoException,
  where: string,
  prefix: '' | 'METRICS_',
): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new CommandError(
        `${where} is already in use by another process. Choose another ${prefix}PORT.`,
      );
    case 'EACCES':
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CommandError(
        `Cannot listen on ${where}: ${error.message}. Choose another ${prefix}HOST or ${prefix}PORT.`,
      );
    default:
      return error;
  }
}

/** Describes an error for the log: with its stack if it is unexpected. */
export function describeError(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  // Errors of the database and the system are clear without a stack.
  if (typeof code === 'string') return `${error.message} (${code})`;
  const text = error.stack ?? error.message;
  return error.cause instanceof Error ? `${text}\nCaused by: ${describeError(error.cause)}` : text;
}
