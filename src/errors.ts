/**
 * Every reason a caller can be refused for. Each face (REST, MCP, the owner's pages) renders the
 * kinds with one exhaustive switch.
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
 * The only error whose message may reach a caller of the API. Anything else that is thrown is logged with its
 * cause and answered with one fixed sentence.
 */
export class ServiceError extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ServiceError';
    this.kind = kind;
  }
}

/** A command line or configuration that cannot be understood; printed as it is. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What cannot be done, for a reason that a person at a terminal can mend. Exit status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/**
 * Why an address cannot be listened on, and what to choose instead; any other error as it is.
 * @param prefix of the two variables, HOST and PORT, that the address comes from
 */
export function listenError(
  error: NodeJS.ErrnoException,
  where: string,
  prefix: '' | 'METRICS_',
): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new CommandError(`Another process listens on ${where}; choose another ${prefix}PORT.`);
    case 'EACCES':
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CommandError(
        `${where} cannot be listened on: ${error.message}; choose another ${prefix}HOST or ${prefix}PORT.`,
      );
    default:
      return error;
  }
}

/** What is said of an error: its reason where it has one of its own, else its place, too. */
export function describeError(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  // The database's and the system's own errors say enough by themselves.
  if (typeof code === 'string') return `${error.message} (${code})`;
  const text = error.stack ?? error.message;
  return error.cause instanceof Error ? `${text}\nCaused by: ${describeError(error.cause)}` : text;
}
