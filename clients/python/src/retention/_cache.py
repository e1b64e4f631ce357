from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime

from .errors import RateLimitError, UnavailableError
from .types import EntitlementEntry


@dataclass(frozen=True)
class CacheOptions:
    """How `entitled` keeps answers."""

    max_age_seconds: float = 60
    """How old an answer may be, at most."""
    refusal_max_age_seconds: float = 5
    """How old an answer "not entitled" may be: the customer may just be buying."""
    grace_seconds: float = 0
    """How long an answer counts while the service cannot be reached, unless a paid
    period lasts longer."""
    max_customers: int = 10_000
    """Customers whose answers are kept; those not asked about for the longest time go
    first."""

    def __post_init__(self) -> None:
        for name in ("max_age_seconds", "refusal_max_age_seconds", "grace_seconds"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(
                    f"{name} must be a number of seconds, 0 or more; it is {value}."
                )


@dataclass(frozen=True)
class _Answer:
    entries: Sequence[EntitlementEntry]
    at: float
    """When it was asked for: what happened since may not be in it."""


class EntitlementCache:
    """What was last answered about customers, and one request at a time for each."""

    def __init__(
        self,
        load: Callable[[int], Sequence[EntitlementEntry]],
        options: CacheOptions,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._load = load
        self._options = options
        self._now = now
        self._lock = threading.Lock()
        self._answers: OrderedDict[int, _Answer] = OrderedDict()
        self._loading: dict[int, Future[_Answer]] = {}

    def entitling_entries(self, customer_id: int) -> list[EntitlementEntry]:
        """The entries that entitle a customer now."""
        with self._lock:
            known = self._answers.get(customer_id)
            if known is not None and self._is_fresh(known):
                self._answers.move_to_end(customer_id)
                return self._entitling(known)
        try:
            return self._entitling(self._load_once(customer_id))
        except (UnavailableError, RateLimitError):
            with self._lock:
                # It may have been replaced meanwhile.
                earlier = self._answers.get(customer_id)
            if earlier is None:
                raise
            still_paid = [entry for entry in earlier.entries if self._is_paid(entry)]
            if still_paid:
                return still_paid
            if self._now() - earlier.at < self._options.grace_seconds:
                return self._entitling(earlier)
            raise

    def forget(self, customer_id: int) -> None:
        """Forgets what is known about a customer, for example after a purchase."""
        with self._lock:
            self._answers.pop(customer_id, None)
            # An answer under way may be older than what the caller knows.
            self._loading.pop(customer_id, None)

    def _is_fresh(self, answer: _Answer) -> bool:
        options = self._options
        limit = options.max_age_seconds
        if not self._entitling(answer):
            limit = min(limit, options.refusal_max_age_seconds)
        # A clock that was set back must not keep an answer alive.
        return 0 <= self._now() - answer.at < limit

    def _entitling(self, answer: _Answer) -> list[EntitlementEntry]:
        """One that entitled by a paid period alone does so no longer than that period."""
        return [
            entry
            for entry in answer.entries
            if entry["isEntitled"]
            and (entry["status"] == "active" or self._is_paid(entry))
        ]

    def _is_paid(self, entry: EntitlementEntry) -> bool:
        until = entry["paidThroughAt"]
        return (
            entry["isEntitled"]
            and until is not None
            and self._now() < _epoch_seconds(until)
        )

    def _load_once(self, customer_id: int) -> _Answer:
        with self._lock:
            running = self._loading.get(customer_id)
            if running is None:
                mine: Future[_Answer] = Future()
                self._loading[customer_id] = mine
        if running is not None:
            return running.result()
        at = self._now()
        try:
            answer = _Answer(self._load(customer_id), at)
        except BaseException as error:
            with self._lock:
                if self._loading.get(customer_id) is mine:
                    del self._loading[customer_id]
            mine.set_exception(error)
            raise
        with self._lock:
            if self._loading.get(customer_id) is mine:
                del self._loading[customer_id]
                self._keep(customer_id, answer)
        mine.set_result(answer)
        return answer

    def _keep(self, customer_id: int, answer: _Answer) -> None:
        self._answers[customer_id] = answer
        self._answers.move_to_end(customer_id)
        if len(self._answers) > self._options.max_customers:
            self._answers.popitem(last=False)


def _epoch_seconds(text: str) -> float:
    # Python before 3.11 does not read the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
