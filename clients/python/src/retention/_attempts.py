"""What a call sends and how it judges answers, without sending anything itself, so that
the clients with and without asyncio do the same."""

from __future__ import annotations

import email.utils
import http.client
import io
import json
import math
import random
import re
import socket
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Union, cast

from ._settings import Headers, RequestInfo, ResponseInfo, Settings, tell
from ._shape import fault_of
from ._shapes import SHAPES
from ._version import VERSION
from .errors import (
    RateLimitError,
    RequestTimeoutError,
    RetentionError,
    UnavailableError,
    error_of,
)

# The longest Retry-After that is waited for.
_MAX_WAIT_SECONDS = 60
_FIRST_BACKOFF_SECONDS = 0.25
_MAX_BACKOFF_SECONDS = 8


@dataclass(frozen=True)
class Call:
    """What to get."""

    operation: str
    path: str
    """After the service's root, with the query."""
    retries: bool = True
    ends_at: float = math.inf
    """When the call ends at the latest, by time.monotonic()."""


@dataclass(frozen=True)
class Send:
    """To send a request, and to read its answer."""

    settings: Settings
    content: bytes = field(repr=False)
    """With the key."""
    timeout_seconds: float


@dataclass(frozen=True)
class Wait:
    """To wait before the next attempt."""

    seconds: float


@dataclass(frozen=True)
class Answered:
    body: dict[str, Any]
    asked_at: float
    """When the attempt that was answered was sent, epoch seconds."""


# Bytes of an answer, or why there is none; None after waiting.
Reply = Union[bytes, OSError, None]
Steps = Generator[Union[Send, Wait], Reply, Answered]


def attempt(settings: Settings, call: Call) -> Steps:
    """Gets a path, again after failures that may pass: every operation is safe to
    repeat. Yields what is to be done, and takes what came of it.
    """
    target = f"{settings.address.path}{call.path}"
    url = settings.address._replace(path="").geturl() + target
    number = 1
    while True:
        headers = Headers(
            {"Accept": "application/json", "Authorization": f"Bearer {settings.key}"}
        )
        request = RequestInfo(call.operation, url, number, headers)
        tell(settings.hooks.on_request, request)
        asked_at = time.time()
        started = time.monotonic()
        limit = max(min(settings.timeout_seconds, call.ends_at - started), 0.001)
        send = Send(settings, _write(settings.address.netloc, target, headers), limit)
        reply = yield send
        late = (
            "No answer before the deadline."
            if limit < settings.timeout_seconds
            else f"No complete answer within {limit:.3g} s."
        )
        result = _judge(reply, call.operation, late)
        error = result.error
        retry_in = None
        if error is not None and call.retries and number <= settings.max_retries:
            retry_in = _wait_before(error, number, call.ends_at)
        duration = time.monotonic() - started
        response = ResponseInfo(
            request, result.status, result.request_id, duration, error, retry_in
        )
        tell(settings.hooks.on_response, response)
        if error is None:
            return Answered(result.body, asked_at)
        if retry_in is None:
            raise error
        yield Wait(retry_in)
        number += 1


def _write(host: str, target: str, headers: Mapping[str, str]) -> bytes:
    given = Headers(
        {"Host": host, "User-Agent": f"retention-python/{VERSION}"}
    )
    given.update(headers)
    is_clean = all(
        re.fullmatch(r"[\t -~\x80-\xff]*", f"{name}: {value}")
        for name, value in given.items()
    )
    if not is_clean:
        raise ValueError(
            "A header that a hook added has a line break, or a character that cannot be "
            "sent."
        )
    lines = (f"{name}: {value}" for name, value in given.items())
    return "\r\n".join([f"GET {target} HTTP/1.1", *lines, "", ""]).encode("latin-1")


@dataclass(frozen=True)
class _Result:
    status: int | None
    request_id: str | None
    body: dict[str, Any]
    error: RetentionError | None


def _judge(reply: Reply, operation: str, late: str) -> _Result:
    try:
        if not isinstance(reply, bytes):
            raise reply or OSError("no answer")
        status, headers, content = _parse(reply)
    except TimeoutError:
        return _Result(None, None, {}, RequestTimeoutError(f"{operation}: {late}"))
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        message = f"{operation}: The service could not be reached: {reason}"
        return _Result(None, None, {}, UnavailableError(message))
    request_id = headers.get("x-request-id")
    origin = "" if request_id is None else f" (request {request_id})"
    retry_after = _parse_retry_after(headers.get("retry-after"))
    body = _parse_json(content)
    if 200 <= status < 300:
        fault = fault_of(status, body, SHAPES[operation])
        if fault is None:
            return _Result(status, request_id, body, None)
        # An answer that was cut off, or from something else that listens here.
        unclear = UnavailableError(
            f"{operation}: The answer is not one of this service: {fault}.{origin}",
            status=status,
            request_id=request_id,
            retry_after_seconds=retry_after,
        )
        return _Result(status, request_id, {}, unclear)
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        message = body["message"]
    elif 300 <= status < 400 and "location" in headers:
        message = (
            "The service redirects to another address. Set base_url to that one: "
            "a key is not sent on."
        )
    else:
        message = f"The service answered {status}."
    text = f"{operation}: {message}{origin}"
    refusal = error_of(text, status, request_id, retry_after)
    return _Result(status, request_id, {}, refusal)


class _Bytes:
    """As much of a socket as http.client reads answers from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self._content)


def _parse(reply: bytes) -> tuple[int, Mapping[str, str], bytes]:
    """:raises HTTPException: if the answer is incomplete, or none"""
    response = http.client.HTTPResponse(cast(socket.socket, _Bytes(reply)), method="GET")
    response.begin()
    content = response.read()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return response.status, headers, content


def _parse_json(content: bytes) -> Any:
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _wait_before(error: RetentionError, number: int, ends_at: float) -> float | None:
    """Seconds until the next attempt; None if there should be none."""
    if not isinstance(error, (UnavailableError, RateLimitError)):
        return None
    requested = error.retry_after_seconds or 0
    backoff = _FIRST_BACKOFF_SECONDS
    if error.retry_after_seconds is None:
        backoff = min(backoff * 2.0 ** (number - 1), _MAX_BACKOFF_SECONDS)
    # Many clients that were refused together should not come back together.
    wait = requested + random.random() * backoff
    if requested > _MAX_WAIT_SECONDS or time.monotonic() + wait >= ends_at:
        return None
    return wait


def _parse_retry_after(text: str | None) -> float | None:
    """Whole seconds; proxies may send a date. None for anything else."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]+", text):
        return float(text)
    date = r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"
    if not re.fullmatch(date, text, re.ASCII):
        return None
    try:
        at = email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError):
        return None
    return max(math.ceil(at - time.time()), 0)
