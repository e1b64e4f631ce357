"""What calls raise. All of it is a RetentionError."""

from __future__ import annotations


class RetentionError(Exception):
    """Any failure of a request. Its subclasses say what kind."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """HTTP status; None if there was no complete answer."""
        self.request_id = request_id
        """Of the answer, for asking the service's operator about it."""
        self.retry_after_seconds = retry_after_seconds
        """When to ask again at the earliest, as far as the service said so."""


class InvalidRequestError(RetentionError):
    """400: a parameter is missing or invalid; the message says which."""


class AuthenticationError(RetentionError):
    """401: the key is missing, mistyped, unknown, expired or revoked."""


class PermissionDeniedError(RetentionError):
    """403: the key does not have the scope, or the shop's tier has no API access."""


class NotFoundError(RetentionError):
    """404: the shop has no such subscription."""


class RateLimitError(RetentionError):
    """429: too many requests; `retry_after_seconds` says how long to wait."""


class UnavailableError(RetentionError):
    """The service could not be reached, or failed: asking again later may help."""


class RequestTimeoutError(UnavailableError):
    """No complete answer within the time limit."""


_by_status: dict[int, type[RetentionError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    429: RateLimitError,
}


def error_of(
    message: str, status: int, request_id: str | None, retry_after_seconds: float | None
) -> RetentionError:
    """The error for an answer that is not 2xx."""
    kind = _by_status.get(status, UnavailableError if status >= 500 else RetentionError)
    return kind(
        message,
        status=status,
        request_id=request_id,
        retry_after_seconds=retry_after_seconds,
    )
