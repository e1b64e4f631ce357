"""What all calls of a client share."""

from __future__ import annotations

import math
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from .errors import RetentionError


@dataclass(frozen=True, eq=False)
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

    request: RequestInfo
    """The object that `on_request` got."""
    status: int | None
    """None if there was no complete answer."""
    request_id: str | None
    duration_seconds: float
    error: RetentionError | None
    """What will be raised, unless there is a retry."""
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
class Settings:
    """What all calls of a client share."""

    address: SplitResult
    key: str
    timeout_seconds: float
    max_retries: int
    hooks: Hooks
    ssl_context: ssl.SSLContext | None
    """None for http."""

    @staticmethod
    def check(
        base_url: str,
        key: str | None,
        timeout_seconds: float,
        max_retries: int,
        hooks: Hooks | None,
        ssl_context: ssl.SSLContext | None,
    ) -> Settings:
        """:raises ValueError: for options that cannot work"""
        address = _address_of(base_url)
        # Never quoted: it is a secret.
        if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError(
                "key must be an API key such as rtn_…. Is its environment variable set?"
            )
        if not (math.isfinite(timeout_seconds) and timeout_seconds > 0):
            raise ValueError("timeout_seconds must be a number, more than 0.")
        if max_retries < 0:
            raise ValueError("max_retries must be 0 or more.")
        if address.scheme == "http":
            ssl_context = None
        elif ssl_context is None:
            ssl_context = ssl.create_default_context()
        return Settings(
            address, key, timeout_seconds, max_retries, hooks or Hooks(), ssl_context
        )


def _address_of(base_url: str) -> SplitResult:
    # urlsplit() would drop some characters that cannot be in an address.
    if re.fullmatch(r"https?://[!-~]+", base_url, re.IGNORECASE):
        address = urlsplit(base_url.rstrip("/"))
        extra = address.query or address.fragment or address.username
        if address.hostname and not extra and address.port != 0:
            return address
    raise ValueError(
        "base_url must be the service's address, such as https://retention.example; "
        f"it is {base_url!r}."
    )
