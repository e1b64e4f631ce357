/** What is known about a failed request. */
export interface FailureDetails {
  /** HTTP status; undefined if there was no complete answer. */
  readonly status?: number | undefined;
  /** Of the answer, for asking the service's operator about it. */
  readonly requestId?: string | undefined;
  /** When to ask again at the earliest, as far as the service said so. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** Any failure of a request. Its subclasses say what kind. */
export class RetentionError extends Error {
  override readonly name: string = 'RetentionError';
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** 400: a parameter is missing or invalid; the message says which. */
export class InvalidRequestError extends RetentionError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the key is missing, mistyped, unknown, expired or revoked. */
export class AuthenticationError extends RetentionError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key does not have the scope, or the shop's tier has no API access; the message says which. */
export class PermissionError extends RetentionError {
  override readonly name = 'PermissionError';
}

/** 404: the shop has no such subscription. */
export class NotFoundError extends RetentionError {
  override readonly name = 'NotFoundError';
}

/** 429: too many requests; `retryAfterSeconds` says how long to wait. */
export class RateLimitError extends RetentionError {
  override readonly name = 'RateLimitError';
}

/** The service could not be reached, or failed: asking again later may help. */
export class UnavailableError extends RetentionError {
  override readonly name: string = 'UnavailableError';
}

/** No complete answer within the time limit. */
export class TimeoutError extends UnavailableError {
  override readonly name = 'TimeoutError';
}

const byStatus: Readonly<
  Record<number, new (message: string, details: FailureDetails) => RetentionError>
> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  429: RateLimitError,
};

/** The error for an answer that is not 2xx. */
export function errorOf(
  message: string,
  details: FailureDetails & { readonly status: number },
): RetentionError {
  const { status } = details;
  const Kind = byStatus[status] ?? (status >= 500 ? UnavailableError : RetentionError);
  return new Kind(message, details);
}
