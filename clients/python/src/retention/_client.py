from __future__ import annotations

import ssl
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from . import _calls
from ._attempts import Answered, Call, attempt
from ._cache import CacheOptions, EntitlementCache
from ._settings import Hooks, Settings, check_number
from ._transport import open_pool, run
from .errors import UnavailableError
from .types import (
    CancellationSession,
    EntitlementEntry,
    ListCancellationsOutcome,
    ListSubscriptionsStatus,
    MetricsSummary,
    SellingPlan,
    Subscription,
    SubscriptionDetail,
)

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Page(Generic[Entry]):
    """Some entries of a list."""

    entries: list[Entry]
    next_cursor: str | None
    """Continues the walk later, with the same filter; None on the last page."""

    def cursor_after(self, cursor: str | None) -> str | None:
        """The next cursor of the page at this one."""
        if self.next_cursor is not None and self.next_cursor == cursor:
            raise UnavailableError(
                "The service gives the same page again, so the list would not end."
            )
        return self.next_cursor


class Listing(Generic[Entry]):
    """A list that is read page by page while it is walked."""

    def __init__(
        self, load: Callable[[str | None], Page[Entry]], cursor: str | None
    ) -> None:
        self._load = load
        self._cursor = cursor

    def first_page(self) -> Page[Entry]:
        """The first page alone."""
        return self._load(self._cursor)

    def to_list(self, *, limit: float) -> list[Entry]:
        """The first entries, from as many pages as they need.

        :param limit: how many at most, or math.inf: all are in memory at once
        """
        check_number("limit", limit)
        entries: list[Entry] = []
        for page in self.pages():
            entries += page.entries
            if len(entries) >= limit:
                return entries[: int(limit)]
        return entries

    def __iter__(self) -> Iterator[Entry]:
        for page in self.pages():
            yield from page.entries

    def pages(self) -> Iterator[Page[Entry]]:
        """The pages themselves."""
        cursor = self._cursor
        while True:
            page = self._load(cursor)
            yield page
            cursor = page.cursor_after(cursor)
            if cursor is None:
                return


class Retention:
    """A client of the Retention Data Service. All calls may be repeated; failures are a
    RetentionError. It may be shared by threads.
    """

    def __init__(
        self,
        *,
        base_url: str,
        key: str | None,
        timeout_seconds: float = 10,
        deadline_seconds: float | None = None,
        max_retries: int = 3,
        cache: CacheOptions | None = None,
        hooks: Hooks | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """
        :param base_url: the service's root, such as https://retention.example
        :param key: an API key of the shop, `rtn_…`; None is refused at once
        :param timeout_seconds: how long an attempt may take, until the end of the answer
        :param deadline_seconds: how long a call may take, with its attempts and the waits
            between them; each method also takes it; a list has it for each page. Unless
            it is chosen, 2 for `entitled`, because somebody waits for it, and unlimited
            for the others
        :param max_retries: attempts after the first, if it fails in a way that may pass
        :param cache: how `entitled` keeps answers
        :param ssl_context: for certificates that the system does not know
        """
        self._settings = Settings.check(
            base_url,
            key,
            timeout_seconds,
            deadline_seconds,
            max_retries,
            hooks,
            ssl_context,
        )
        self._pool = open_pool()
        self._cache = EntitlementCache(
            lambda customer_id, retries, ends_at: self._send(
                replace(
                    _calls.get_entitlements(customer_id), retries=retries, ends_at=ends_at
                )
            ),
            cache or CacheOptions(),
        )

    def get_entitlements(
        self, customer_id: int, *, deadline_seconds: float | None = None
    ) -> list[EntitlementEntry]:
        """Every subscription of a customer, with whether it entitles now, by id. An
        unknown customer has none.
        """
        body = self._get(_calls.get_entitlements(customer_id), deadline_seconds)
        entries: list[EntitlementEntry] = body["subscriptions"]
        return entries

    def entitled(
        self,
        customer_id: int,
        *,
        plan_ids: Collection[int] | None = None,
        deadline_seconds: float | None = None,
    ) -> bool:
        """Whether a customer is entitled now, through any plan or one of `plan_ids`.

        Answers are kept as `cache` says, one request is under way per customer, and
        while the service cannot be reached the last answer holds as `cache` says.

        :raises UnavailableError, RateLimitError: if no answer holds; it is never False
            for want of one
        """
        _calls.check_id(customer_id, "customer_id")
        return self._cache.is_entitled(
            customer_id,
            plan_ids,
            self._settings.ends_at(deadline_seconds, _calls.ENTITLED_DEADLINE_SECONDS),
        )

    def forget(self, customer_id: int) -> None:
        """Makes `entitled` ask anew about a customer, for example after a purchase."""
        self._cache.forget(customer_id)

    def list_subscriptions(
        self,
        *,
        status: ListSubscriptionsStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
        deadline_seconds: float | None = None,
    ) -> Listing[Subscription]:
        """The shop's subscriptions, newest first, read page by page while they are
        walked.
        """

        def load(after: str | None) -> Page[Subscription]:
            query = {"limit": limit, "status": status, "cursor": after}
            body = self._get(_calls.list_subscriptions(query), deadline_seconds)
            return Page(body["subscriptions"], body["nextCursor"])

        return Listing(load, cursor)

    def get_subscription(
        self, subscription_id: int, *, deadline_seconds: float | None = None
    ) -> SubscriptionDetail:
        """:raises NotFoundError: if the shop has no such subscription"""
        body = self._get(_calls.get_subscription(subscription_id), deadline_seconds)
        subscription: SubscriptionDetail = body["subscription"]
        return subscription

    def get_metrics_summary(
        self, *, deadline_seconds: float | None = None
    ) -> MetricsSummary:
        """The shop's figures now."""
        body = self._get(_calls.get_metrics_summary, deadline_seconds)
        summary: MetricsSummary = body["summary"]
        return summary

    def list_plans(self, *, deadline_seconds: float | None = None) -> list[SellingPlan]:
        """The plans that the shop sells, by id."""
        plans: list[SellingPlan] = self._get(_calls.list_plans, deadline_seconds)["plans"]
        return plans

    def list_cancellations(
        self,
        *,
        outcome: ListCancellationsOutcome | None = None,
        limit: int = 100,
        cursor: str | None = None,
        deadline_seconds: float | None = None,
    ) -> Listing[CancellationSession]:
        """The sessions of the cancel flow, newest first, read page by page while they
        are walked.
        """

        def load(after: str | None) -> Page[CancellationSession]:
            query = {"limit": limit, "outcome": outcome, "cursor": after}
            body = self._get(_calls.list_cancellations(query), deadline_seconds)
            return Page(body["cancellations"], body["nextCursor"])

        return Listing(load, cursor)

    def close(self) -> None:
        """Closes connections that are kept for further requests. The client may be used
        on."""
        self._pool.close()

    def __enter__(self) -> Retention:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get(self, call: Call, deadline_seconds: float | None) -> dict[str, Any]:
        ends_at = self._settings.ends_at(deadline_seconds)
        return self._send(replace(call, ends_at=ends_at)).body

    def _send(self, call: Call) -> Answered:
        return run(attempt(self._settings, call), self._pool)
