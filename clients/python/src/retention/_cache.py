from __future__ import annotations

import asyncio
import concurrent.futures
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

from ._attempts import Answered
from ._settings import check_number
from ._shape import read_time
from .errors import RateLimitError, RequestTimeoutError, UnavailableError
from .types import EntitlementEntry

Request = TypeVar("Request")


@dataclass(frozen=True)
class CacheOptions:
    """How `entitled` keeps answers."""

    max_age_seconds: float = 60
    """How old an answer may be, at most."""
    refusal_max_age_seconds: float = 5
    """How old an answer that a customer is not entitled may be: they may just be
    buying."""
    grace_seconds: float = 3600
    """How long an answer holds while the service cannot be reached, unless a paid
    period lasts longer."""
    max_customers: int = 10_000
    """Customers whose answers are kept; the least recently used go first."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_number(name, value)


@dataclass(frozen=True)
class _Grant:
    """What entitled a customer when the service was asked."""

    plan_id: int
    is_active: bool
    paid_until: float
    """Epoch seconds; -inf if unknown."""


@dataclass(frozen=True)
class _Answer:
    grants: tuple[_Grant, ...]
    asked_at: float
    """When the request was sent, epoch seconds: what happened since may not be in it."""

    def through(self, plan_ids: Collection[int] | None) -> list[_Grant]:
        return [
            each for each in self.grants if plan_ids is None or each.plan_id in plan_ids
        ]


def _answer_of(answered: Answered) -> _Answer:
    entries: list[EntitlementEntry] = answered.body["subscriptions"]
    grants = tuple(_grant_of(entry) for entry in entries if entry["isEntitled"])
    return _Answer(grants, answered.asked_at)


def _grant_of(entry: EntitlementEntry) -> _Grant:
    paid = entry["paidThroughAt"]
    until = -math.inf if paid is None else read_time(paid)
    return _Grant(entry["planId"], entry["status"] == "active", until)


class _Answers:
    """The last answer about each customer, and what it still says."""

    def __init__(self, options: CacheOptions) -> None:
        self._options = options
        # In the order of their last use.
        self._kept: OrderedDict[int, _Answer] = OrderedDict()

    def fresh(self, customer_id: int, plan_ids: Collection[int] | None) -> bool | None:
        """What may be answered without asking; None if nothing may."""
        answer = self._kept.get(customer_id)
        if answer is None:
            return None
        now = time.time()
        grants = answer.through(plan_ids)
        # A clock that was set back must not keep an answer alive.
        if now < answer.asked_at or not self.is_young(answer, plan_ids, now):
            return None
        for each in grants:
            if not each.is_active and answer.asked_at < each.paid_until <= now:
                return None
        self._kept.move_to_end(customer_id)
        return bool(grants)

    def is_young(
        self, answer: _Answer, plan_ids: Collection[int] | None, at: float
    ) -> bool:
        options = self._options
        max_age = options.max_age_seconds
        if not answer.through(plan_ids):
            max_age = min(max_age, options.refusal_max_age_seconds)
        return at - answer.asked_at < max_age

    def held(self, customer_id: int, plan_ids: Collection[int] | None) -> bool | None:
        """What the last answer says while there is no newer one; None if it no longer
        holds."""
        answer = self._kept.get(customer_id)
        if answer is None:
            return None
        now = time.time()
        grants = answer.through(plan_ids)
        if any(now < each.paid_until for each in grants):
            return True
        if 0 <= now - answer.asked_at < self._options.grace_seconds:
            return bool(grants)
        return None

    def keep(self, customer_id: int, answer: _Answer) -> None:
        self._kept[customer_id] = answer
        self._kept.move_to_end(customer_id)
        if len(self._kept) > self._options.max_customers:
            self._kept.popitem(last=False)

    def forget(self, customer_id: int) -> None:
        self._kept.pop(customer_id, None)


@dataclass(eq=False)
class _Loading(Generic[Request]):
    """A request under way."""

    request: Request
    limit_seconds: float
    """How much time it had."""
    waiters: int = 0

    def had_less_time(self, ends_at: float) -> bool:
        """Than a call has left that joined it."""
        return ends_at - time.monotonic() > self.limit_seconds


def _rest(ends_at: float) -> float | None:
    """Seconds until then; None for ever."""
    return None if ends_at == math.inf else max(ends_at - time.monotonic(), 0)


_TOO_LATE = "getEntitlements: No answer before the deadline."


class EntitlementCache:
    """At most one request per customer at a time, among all threads."""

    def __init__(
        self, load: Callable[[int, bool, float], Answered], options: CacheOptions
    ) -> None:
        """:param load: asks the service, with retries or without, until a time"""
        self._load = load
        self._answers = _Answers(options)
        self._lock = threading.Lock()
        self._loading: dict[int, _Loading[Future[_Answer]]] = {}

    def is_entitled(
        self, customer_id: int, plan_ids: Collection[int] | None, ends_at: float
    ) -> bool:
        called_at = time.time()
        while True:
            with self._lock:
                known = self._answers.fresh(customer_id, plan_ids)
                if known is not None:
                    return known
                running = self._loading.get(customer_id)
                if running is None:
                    mine = _Loading(Future[_Answer](), ends_at - time.monotonic())
                    self._loading[customer_id] = mine
                    # A caller with an answer that holds should not wait for retries.
                    retries = self._answers.held(customer_id, plan_ids) is None
            try:
                if running is None:
                    answer = self._ask(customer_id, retries, ends_at, mine)
                else:
                    answer = _wait(running.request, ends_at)
            except (UnavailableError, RateLimitError):
                with self._lock:
                    held = self._answers.held(customer_id, plan_ids)
                if held is not None:
                    return held
                # A request of another caller may have had less time.
                if running is None or not running.had_less_time(ends_at):
                    raise
                continue
            # The request of another caller may have been sent too long before this call.
            if running is None or self._answers.is_young(answer, plan_ids, called_at):
                return bool(answer.through(plan_ids))

    def forget(self, customer_id: int) -> None:
        with self._lock:
            self._answers.forget(customer_id)
            # The answer to a request under way may be older than what the caller knows.
            self._loading.pop(customer_id, None)

    def _ask(
        self,
        customer_id: int,
        retries: bool,
        ends_at: float,
        mine: _Loading[Future[_Answer]],
    ) -> _Answer:
        try:
            answer = _answer_of(self._load(customer_id, retries, ends_at))
        except BaseException as error:
            self._end(customer_id, mine, None)
            # What ends one thread must not end the others.
            is_passing = isinstance(error, Exception)
            mine.request.set_exception(
                error if is_passing else UnavailableError("The request was ended.")
            )
            raise
        self._end(customer_id, mine, answer)
        mine.request.set_result(answer)
        return answer

    def _end(
        self,
        customer_id: int,
        mine: _Loading[Future[_Answer]],
        answer: _Answer | None,
    ) -> None:
        with self._lock:
            if self._loading.get(customer_id) is not mine:
                return
            del self._loading[customer_id]
            if answer is not None:
                self._answers.keep(customer_id, answer)


def _wait(request: Future[_Answer], ends_at: float) -> _Answer:
    try:
        return request.result(_rest(ends_at))
    # Python before 3.11 has two kinds.
    except concurrent.futures.TimeoutError:
        raise RequestTimeoutError(_TOO_LATE) from None


class AsyncEntitlementCache:
    """At most one request per customer at a time, among all tasks of an event loop."""

    def __init__(
        self,
        load: Callable[[int, bool, float], Awaitable[Answered]],
        options: CacheOptions,
    ) -> None:
        """:param load: asks the service, with retries or without, until a time"""
        self._load = load
        self._answers = _Answers(options)
        self._loading: dict[int, _Loading[asyncio.Task[_Answer]]] = {}

    async def is_entitled(
        self, customer_id: int, plan_ids: Collection[int] | None, ends_at: float
    ) -> bool:
        called_at = time.time()
        while True:
            known = self._answers.fresh(customer_id, plan_ids)
            if known is not None:
                return known
            running = self._loading.get(customer_id)
            try:
                if running is None:
                    mine = self._start(customer_id, plan_ids, ends_at)
                    # The request itself ends in time.
                    answer = await self._wait(customer_id, mine, math.inf)
                else:
                    answer = await self._wait(customer_id, running, ends_at)
            except (UnavailableError, RateLimitError):
                held = self._answers.held(customer_id, plan_ids)
                if held is not None:
                    return held
                # A request of another caller may have had less time.
                if running is None or not running.had_less_time(ends_at):
                    raise
                continue
            # The request of another caller may have been sent too long before this call.
            if running is None or self._answers.is_young(answer, plan_ids, called_at):
                return bool(answer.through(plan_ids))

    def forget(self, customer_id: int) -> None:
        self._answers.forget(customer_id)
        # The answer to a request under way may be older than what the caller knows.
        self._loading.pop(customer_id, None)

    def _start(
        self, customer_id: int, plan_ids: Collection[int] | None, ends_at: float
    ) -> _Loading[asyncio.Task[_Answer]]:
        # A caller with an answer that holds should not wait for retries.
        retries = self._answers.held(customer_id, plan_ids) is None
        task = asyncio.create_task(self._ask(customer_id, retries, ends_at))
        loading = _Loading(task, ends_at - time.monotonic())
        self._loading[customer_id] = loading
        task.add_done_callback(lambda _: self._end(customer_id, loading))
        return loading

    async def _wait(
        self, customer_id: int, loading: _Loading[asyncio.Task[_Answer]], ends_at: float
    ) -> _Answer:
        """Waits for a request, which ends when all who waited for it have gone."""
        loading.waiters += 1
        try:
            # A caller that is cancelled does not take the answer from the others.
            waiting = asyncio.shield(loading.request)
            return await asyncio.wait_for(waiting, _rest(ends_at))
        # Python before 3.11 has two kinds.
        except asyncio.TimeoutError:
            raise RequestTimeoutError(_TOO_LATE) from None
        finally:
            loading.waiters -= 1
            if loading.waiters == 0:
                if self._loading.get(customer_id) is loading:
                    del self._loading[customer_id]
                loading.request.cancel()

    async def _ask(self, customer_id: int, retries: bool, ends_at: float) -> _Answer:
        return _answer_of(await self._load(customer_id, retries, ends_at))

    def _end(self, customer_id: int, loading: _Loading[asyncio.Task[_Answer]]) -> None:
        is_current = self._loading.get(customer_id) is loading
        if is_current:
            del self._loading[customer_id]
        task = loading.request
        # Asking for the exception also says that it was seen, if all callers are gone.
        if not task.cancelled() and task.exception() is None and is_current:
            self._answers.keep(customer_id, task.result())
