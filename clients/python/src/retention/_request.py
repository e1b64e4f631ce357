from __future__ import annotations

import email.utils
import http.client
import json
import math
import random
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from .errors import (
    RateLimitError,
    RequestTimeoutError,
    RetentionError,
    UnavailableError,
    error_of,
)

# A wait that the service asks for is accepted up to this; a longer one is raised.
_MAX_WAIT_SECONDS = 60
_FIRST_WAIT_SECONDS = 0.25
_MAX_BACKOFF_SECONDS = 8


@dataclass(frozen=True)
class RequestInfo:
    """A request that is about to be sent; a hook may add headers to it."""

    operation: str
    url: str
    attempt: int
    """1 for the first."""
    headers: dict[str, str]
    """For example for `traceparent`."""


@dataclass(frozen=True)
class ResponseInfo:
    """What became of a request."""

    operation: str
    url: str
    attempt: int
    status: int | None
    """None if there was no complete answer."""
    request_id: str | None
    duration_seconds: float
    error: RetentionError | None
    """What will be raised, or is tried again."""
    retry_in_seconds: float | None
    """How long it waits before the next attempt; None if there is none."""


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True)
class Hooks:
    """For logs, metrics and traces. What hooks raise is raised to the caller."""

    on_request: Callable[[RequestInfo], None] = _ignore
    on_response: Callable[[ResponseInfo], None] = _ignore


@dataclass(frozen=True)
class Sender:
    base_url: str
    key: str
    timeout_seconds: float
    max_retries: int
    hooks: Hooks
    sleep: Callable[[float], None] = time.sleep
    ssl_context: ssl.SSLContext | None = None


def send(sender: Sender, operation: str, path: str) -> Any:
    """Gets a path, again after failures that may pass: all operations may be repeated."""
    url = sender.base_url + path
    attempt = 1
    while True:
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {sender.key}",
        }
        sender.hooks.on_request(RequestInfo(operation, url, attempt, headers))
        started = time.monotonic()
        result = _attempt(sender, url, headers)
        error = result.error
        retry_in = None
        if error is not None and attempt <= sender.max_retries:
            retry_in = _wait_before(error, attempt)
        sender.hooks.on_response(
            ResponseInfo(
                operation,
                url,
                attempt,
                result.status,
                result.request_id,
                time.monotonic() - started,
                error,
                retry_in,
            )
        )
        if error is None:
            return result.body
        if retry_in is None:
            raise error
        sender.sleep(retry_in)
        attempt += 1


@dataclass
class _Result:
    status: int | None = None
    request_id: str | None = None
    body: Any = None
    error: RetentionError | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def _attempt(sender: Sender, url: str, headers: dict[str, str]) -> _Result:
    try:
        status, answered, content = _get(sender, url, headers)
    except TimeoutError:
        message = f"No complete answer within {sender.timeout_seconds} s."
        return _Result(error=RequestTimeoutError(message))
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        return _Result(
            error=UnavailableError(f"The service could not be reached: {reason}")
        )
    request_id = answered.get("x-request-id")
    body = _parse(content)
    if 200 <= status < 300 and isinstance(body, dict):
        return _Result(status, request_id, body)
    retry_after = _parse_retry_after(answered.get("retry-after"))
    if 200 <= status < 300:
        # Cut off, or of something else that listens at this address.
        return _Result(
            status,
            request_id,
            error=UnavailableError(
                "The answer is not JSON.", status=status, request_id=request_id
            ),
        )
    message = f"The service answered {status}."
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        message = body["message"]
    return _Result(
        status, request_id, error=error_of(message, status, request_id, retry_after)
    )


def _get(
    sender: Sender, url: str, headers: dict[str, str]
) -> tuple[int, Mapping[str, str], bytes]:
    """One request on a connection of its own. Redirections are not followed."""
    parts = urlsplit(url)
    deadline = time.monotonic() + sender.timeout_seconds
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(
            parts.netloc, timeout=sender.timeout_seconds, context=sender.ssl_context
        )
    else:
        connection = http.client.HTTPConnection(
            parts.netloc, timeout=sender.timeout_seconds
        )
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", target, headers=headers)
        socket = connection.sock
        # A time limit of a socket is for each of its steps; this one is for all of them.
        socket.settimeout(_rest(deadline))
        response = connection.getresponse()
        chunks: list[bytes] = []
        while True:
            socket.settimeout(_rest(deadline))
            chunk = response.read1(65_536)
            if not chunk:
                break
            chunks.append(chunk)
        if response.length:
            raise http.client.IncompleteRead(b"".join(chunks), response.length)
        answered = {name.lower(): value for name, value in response.getheaders()}
        return response.status, answered, b"".join(chunks)
    finally:
        connection.close()


def _rest(deadline: float) -> float:
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise TimeoutError
    return rest


def _wait_before(error: RetentionError, attempt: int) -> float | None:
    """Seconds until the next attempt; None if there should be none."""
    if not isinstance(error, (UnavailableError, RateLimitError)):
        return None
    backoff = min(_FIRST_WAIT_SECONDS * 2 ** (attempt - 1), _MAX_BACKOFF_SECONDS)
    asked = error.retry_after_seconds
    if asked is None:
        return random.random() * backoff
    # Many clients that were refused together should not come back together.
    if asked > _MAX_WAIT_SECONDS:
        return None
    return asked + random.random() * _FIRST_WAIT_SECONDS


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _parse_retry_after(text: str | None) -> float | None:
    """Whole seconds; proxies may send a date."""
    if text is None:
        return None
    if re.fullmatch(r"\d{1,9}", text):
        return int(text)
    try:
        at = email.utils.parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
    return max(math.ceil(at - time.time()), 0)
