"""What all calls of a client share."""

from __future__ import annotations

import inspect
import math
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

from .errors import RetentionError

About = TypeVar("About")


class Headers(dict[str, str]):
    """Does not show the key in reports of errors that have the values of variables."""

    def __repr__(self) -> str:
        return repr({**self, "Authorization": "…"})


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
    """For logs, metrics and traces. What hooks raise is raised to the caller. They are
    synchronous, for asyncio too: if one returns a coroutine, the call raises a
    TypeError.
    """

    on_request: Callable[[RequestInfo], None] = _ignore
    on_response: Callable[[ResponseInfo], None] = _ignore


def tell(hook: Callable[[About], object], about: About) -> None:
    returned = hook(about)
    if not inspect.isawaitable(returned):
        return
    # It would never be awaited.
    if inspect.iscoroutine(returned):
        returned.close()
    raise TypeError("A hook returned a coroutine. Hooks must be synchronous.")


@dataclass(frozen=True)
class _NumberRule:
    is_allowed: Callable[[float], bool]
    must: str


_IS_AGE = _NumberRule(
    lambda value: math.isfinite(value) and value >= 0, "a number, 0 or more"
)
# Timers take more, but not without end; such a number is meant as milliseconds.
_MAX_SECONDS = 1_000_000

# What the numbers among the options may be.
_NUMBERS: dict[str, _NumberRule] = {
    "timeout_seconds": _NumberRule(
        lambda value: 0 < value <= _MAX_SECONDS, "more than 0 and at most 1,000,000"
    ),
    "deadline_seconds": _NumberRule(
        lambda value: 0 < value <= _MAX_SECONDS or value == math.inf,
        "more than 0 and at most 1,000,000, or math.inf",
    ),
    "max_retries": _NumberRule(
        lambda value: isinstance(value, int) and value >= 0, "a whole number, 0 or more"
    ),
    "limit": _NumberRule(
        lambda value: value == math.inf or (isinstance(value, int) and value >= 1),
        "a whole number, 1 or more, or math.inf",
    ),
    "max_age_seconds": _IS_AGE,
    "refusal_max_age_seconds": _IS_AGE,
    "grace_seconds": _IS_AGE,
    "max_customers": _NumberRule(
        lambda value: isinstance(value, int) and value >= 1, "a whole number, 1 or more"
    ),
}


def check_number(name: str, value: object) -> None:
    """:raises ValueError: if the option cannot have the value"""
    rule = _NUMBERS[name]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not rule.is_allowed(value):  # type: ignore[arg-type]
        raise ValueError(f"{name} must be {rule.must}; it is {value!r}.")


@dataclass(frozen=True)
class Settings:
    """What all calls of a client share."""

    address: SplitResult
    key: str = field(repr=False)
    timeout_seconds: float
    deadline_seconds: float | None
    """None if none is chosen; math.inf if there is none."""
    max_retries: int
    hooks: Hooks
    ssl_context: ssl.SSLContext | None
    """None for http."""

    def ends_at(
        self, deadline_seconds: float | None, otherwise_seconds: float = math.inf
    ) -> float:
        """When a call that begins now ends at the latest, by time.monotonic()."""
        if deadline_seconds is not None:
            check_number("deadline_seconds", deadline_seconds)
            return time.monotonic() + deadline_seconds
        if self.deadline_seconds is not None:
            return time.monotonic() + self.deadline_seconds
        return time.monotonic() + otherwise_seconds

    @staticmethod
    def check(
        base_url: str,
        key: str | None,
        timeout_seconds: float,
        deadline_seconds: float | None,
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
        check_number("timeout_seconds", timeout_seconds)
        if deadline_seconds is not None:
            check_number("deadline_seconds", deadline_seconds)
        check_number("max_retries", max_retries)
        if address.scheme == "http":
            ssl_context = None
        elif ssl_context is None:
            ssl_context = ssl.create_default_context()
        return Settings(
            address,
            key,
            timeout_seconds,
            deadline_seconds,
            max_retries,
            hooks or Hooks(),
            ssl_context,
        )


def _address_of(base_url: object) -> SplitResult:
    must = "base_url must be the service's address, such as https://retention.example"
    text = base_url if isinstance(base_url, str) else ""
    # Not quoted: there may be a password in it.
    if "@" in text:
        raise ValueError(f"{must}, without a name or a password.")
    if re.search(r"/api/external(/v1)?/*$", text):
        raise ValueError(f"{must}. Leave out /api/external/v1: the client adds it.")
    # urlsplit() would drop some characters that cannot be in an address.
    if re.fullmatch(r"https?://[!-~]+", text, re.IGNORECASE):
        address = urlsplit(text.rstrip("/"))
        extra = address.query or address.fragment
        if address.hostname and not extra and address.port != 0:
            return address
    raise ValueError(f"{must}; it is {base_url!r}.")
