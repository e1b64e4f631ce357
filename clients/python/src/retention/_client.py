from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode, urlsplit

from ._cache import CacheOptions, EntitlementCache
from ._request import Hooks, Sender, send
from .types import (
    CancellationSession,
    EntitlementEntry,
    MetricsSummary,
    SellingPlan,
    Subscription,
    SubscriptionDetail,
)

Entry = TypeVar("Entry")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Page(Generic[Entry]):
    """Some entries of a list."""

    entries: list[Entry]
    next_cursor: str | None
    """Continues the walk later, with the same filter; None on the last page."""


class Listing(Generic[Entry]):
    """A list that is read page by page while it is walked."""

    def __init__(
        self, load: Callable[[str | None], Page[Entry]], cursor: str | None
    ) -> None:
        self._load = load
        self._cursor = cursor

    def __iter__(self) -> Iterator[Entry]:
        for page in self.pages():
            yield from page.entries

    def pages(self) -> Iterator[Page[Entry]]:
        """The pages themselves."""
        cursor = self._cursor
        while True:
            page = self._load(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return


class AsyncListing(Generic[Entry]):
    """The same for `async for`."""

    def __init__(self, listing: Listing[Entry]) -> None:
        self._listing = listing

    async def __aiter__(self) -> AsyncIterator[Entry]:
        async for page in self.pages():
            for entry in page.entries:
                yield entry

    async def pages(self) -> AsyncIterator[Page[Entry]]:
        """The pages themselves."""
        pages = self._listing.pages()
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            yield page


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
        max_retries: int = 3,
        cache: CacheOptions | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        """
        :param base_url: the service's root, such as https://retention.example
        :param key: an API key of the shop, `rtn_…`; None is refused at once
        :param timeout_seconds: how long an attempt may take, until the end of the answer
        :param max_retries: attempts after the first, if it fails in a way that may pass
        :param cache: how `entitled` keeps answers
        """
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise ValueError(
                "base_url must be the service's address, such as "
                f"https://retention.example; it is {base_url!r}."
            )
        # Never quoted: it is a secret.
        if not key or not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError(
                "key must be an API key such as rtn_…. Is its environment variable set?"
            )
        if timeout_seconds <= 0 or max_retries < 0:
            raise ValueError(
                "timeout_seconds must be more than 0, and max_retries at least 0."
            )
        self._sender = Sender(
            base_url.rstrip("/"), key, timeout_seconds, max_retries, hooks or Hooks()
        )
        self._cache = EntitlementCache(self.get_entitlements, cache or CacheOptions())

    def get_entitlements(self, customer_id: int) -> list[EntitlementEntry]:
        """Every subscription of a customer, with whether it entitles now, by id. An
        unknown customer has none.
        """
        query = {"customerId": _id_text(customer_id, "customer_id")}
        body = self._get("getEntitlements", "/entitlements", query)
        entries: list[EntitlementEntry] = body["subscriptions"]
        return entries

    def entitled(
        self, customer_id: int, *, plan_ids: Collection[int] | None = None
    ) -> bool:
        """Whether a customer is entitled now, by any plan or one of `plan_ids`.

        Answers are kept as `cache` says, one request is under way per customer, and
        while the service cannot be reached earlier answers count as `cache` says.

        :raises UnavailableError, RateLimitError: if no answer counts; never False for
            want of one
        """
        entries = self._cache.entitling_entries(customer_id)
        return any(plan_ids is None or each["planId"] in plan_ids for each in entries)

    def forget(self, customer_id: int) -> None:
        """Makes `entitled` ask anew about a customer, for example after a purchase."""
        self._cache.forget(customer_id)

    def list_subscriptions(
        self, *, status: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Listing[Subscription]:
        """The shop's subscriptions, newest first, read page by page while they are
        walked.
        """

        def load(after: str | None) -> Page[Subscription]:
            query = {"limit": limit, "status": status, "cursor": after}
            body = self._get("listSubscriptions", "/subscriptions", query)
            return Page(body["subscriptions"], body["nextCursor"])

        return Listing(load, cursor)

    def get_subscription(self, subscription_id: int) -> SubscriptionDetail:
        """:raises NotFoundError: if the shop has no such subscription"""
        path = f"/subscriptions/{_id_text(subscription_id, 'subscription_id')}"
        found: SubscriptionDetail = self._get("getSubscription", path)["subscription"]
        return found

    def get_metrics_summary(self) -> MetricsSummary:
        """The shop's figures now."""
        body = self._get("getMetricsSummary", "/metrics/summary")
        summary: MetricsSummary = body["summary"]
        return summary

    def list_plans(self) -> list[SellingPlan]:
        """The plans that the shop sells, by id."""
        plans: list[SellingPlan] = self._get("listPlans", "/plans")["plans"]
        return plans

    def list_cancellations(
        self, *, outcome: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Listing[CancellationSession]:
        """The sessions of the cancel flow, newest first, read page by page while they
        are walked.
        """

        def load(after: str | None) -> Page[CancellationSession]:
            query = {"limit": limit, "outcome": outcome, "cursor": after}
            body = self._get("listCancellations", "/cancellations", query)
            return Page(body["cancellations"], body["nextCursor"])

        return Listing(load, cursor)

    def _get(
        self, operation: str, path: str, query: dict[str, Any] | None = None
    ) -> Any:
        given = {
            name: value for name, value in (query or {}).items() if value is not None
        }
        text = f"?{urlencode(given)}" if given else ""
        return send(self._sender, operation, f"/api/external/v1{path}{text}")


class AsyncRetention:
    """The same for asyncio; requests are sent in threads of the event loop's executor."""

    def __init__(
        self,
        *,
        base_url: str,
        key: str | None,
        timeout_seconds: float = 10,
        max_retries: int = 3,
        cache: CacheOptions | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self._sync = Retention(
            base_url=base_url,
            key=key,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
            cache=cache,
            hooks=hooks,
        )

    async def get_entitlements(self, customer_id: int) -> list[EntitlementEntry]:
        return await asyncio.to_thread(self._sync.get_entitlements, customer_id)

    async def entitled(
        self, customer_id: int, *, plan_ids: Collection[int] | None = None
    ) -> bool:
        return await asyncio.to_thread(
            self._sync.entitled, customer_id, plan_ids=plan_ids
        )

    def forget(self, customer_id: int) -> None:
        self._sync.forget(customer_id)

    def list_subscriptions(
        self, *, status: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> AsyncListing[Subscription]:
        listing = self._sync.list_subscriptions(
            status=status, limit=limit, cursor=cursor
        )
        return AsyncListing(listing)

    async def get_subscription(self, subscription_id: int) -> SubscriptionDetail:
        return await asyncio.to_thread(self._sync.get_subscription, subscription_id)

    async def get_metrics_summary(self) -> MetricsSummary:
        return await asyncio.to_thread(self._sync.get_metrics_summary)

    async def list_plans(self) -> list[SellingPlan]:
        return await asyncio.to_thread(self._sync.list_plans)

    def list_cancellations(
        self, *, outcome: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> AsyncListing[CancellationSession]:
        listing = self._sync.list_cancellations(
            outcome=outcome, limit=limit, cursor=cursor
        )
        return AsyncListing(listing)


def _id_text(number: int, name: str) -> str:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(
            f"{name} must be a whole number from 1 on; it is {number!r}. "
            "For a customer's text at the source, there is customer_id_of."
        )
    return str(number)
