from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Generator
from dataclasses import replace
from typing import Any, Generic, TypeVar

from . import _calls
from ._attempts import Answered, Call, attempt
from ._cache import AsyncEntitlementCache, CacheOptions
from ._client import Page
from ._settings import Hooks, Settings, check_number
from ._transport import open_async_pool, run_async
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


class AsyncListing(Generic[Entry]):
    """A list that is read page by page while it is walked by `async for`; awaited, it gives
    its first page."""

    def __init__(
        self, load: Callable[[str | None], Awaitable[Page[Entry]]], cursor: str | None
    ) -> None:
        self._load = load
        self._cursor = cursor

    def __await__(self) -> Generator[Any, None, Page[Entry]]:
        """The first page alone."""
        return self._load(self._cursor).__await__()

    async def to_list(self, *, limit: float) -> list[Entry]:
        """The first entries, from as many pages as they need.

        :param limit: how many at most, or math.inf: all are in memory at once
        """
        check_number("limit", limit)
        entries: list[Entry] = []
        async for page in self.pages():
            entries += page.entries
            if len(entries) >= limit:
                return entries[: int(limit)]
        return entries

    async def __aiter__(self) -> AsyncIterator[Entry]:
        async for page in self.pages():
            for entry in page.entries:
                yield entry

    async def pages(self) -> AsyncIterator[Page[Entry]]:
        """The pages themselves."""
        cursor = self._cursor
        while True:
            page = await self._load(cursor)
            yield page
            cursor = page.cursor_after(cursor)
            if cursor is None:
                return


class AsyncRetention:
    """The client for asyncio, for one event loop. It does what `Retention` does."""

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
        """The same options as of `Retention`."""
        self._settings = Settings.check(
            base_url,
            key,
            timeout_seconds,
            deadline_seconds,
            max_retries,
            hooks,
            ssl_context,
        )
        self._pool = open_async_pool()
        self._cache = AsyncEntitlementCache(
            lambda customer_id, retries, ends_at: self._send(
                replace(
                    _calls.get_entitlements(customer_id), retries=retries, ends_at=ends_at
                )
            ),
            cache or CacheOptions(),
        )

    async def get_entitlements(
        self, customer_id: int, *, deadline_seconds: float | None = None
    ) -> list[EntitlementEntry]:
        body = await self._get(_calls.get_entitlements(customer_id), deadline_seconds)
        entries: list[EntitlementEntry] = body["subscriptions"]
        return entries

    async def entitled(
        self,
        customer_id: int,
        *,
        plan_ids: Collection[int] | None = None,
        deadline_seconds: float | None = None,
    ) -> bool:
        _calls.check_id(customer_id, "customer_id")
        return await self._cache.is_entitled(
            customer_id,
            plan_ids,
            self._settings.ends_at(deadline_seconds, _calls.ENTITLED_DEADLINE_SECONDS),
        )

    def forget(self, customer_id: int) -> None:
        self._cache.forget(customer_id)

    def list_subscriptions(
        self,
        *,
        status: ListSubscriptionsStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
        deadline_seconds: float | None = None,
    ) -> AsyncListing[Subscription]:
        async def load(after: str | None) -> Page[Subscription]:
            query = {"limit": limit, "status": status, "cursor": after}
            body = await self._get(_calls.list_subscriptions(query), deadline_seconds)
            return Page(body["subscriptions"], body["nextCursor"])

        return AsyncListing(load, cursor)

    async def get_subscription(
        self, subscription_id: int, *, deadline_seconds: float | None = None
    ) -> SubscriptionDetail:
        body = await self._get(_calls.get_subscription(subscription_id), deadline_seconds)
        subscription: SubscriptionDetail = body["subscription"]
        return subscription

    async def get_metrics_summary(
        self, *, deadline_seconds: float | None = None
    ) -> MetricsSummary:
        body = await self._get(_calls.get_metrics_summary, deadline_seconds)
        summary: MetricsSummary = body["summary"]
        return summary

    async def list_plans(
        self, *, deadline_seconds: float | None = None
    ) -> list[SellingPlan]:
        body = await self._get(_calls.list_plans, deadline_seconds)
        plans: list[SellingPlan] = body["plans"]
        return plans

    def list_cancellations(
        self,
        *,
        outcome: ListCancellationsOutcome | None = None,
        limit: int = 100,
        cursor: str | None = None,
        deadline_seconds: float | None = None,
    ) -> AsyncListing[CancellationSession]:
        async def load(after: str | None) -> Page[CancellationSession]:
            query = {"limit": limit, "outcome": outcome, "cursor": after}
            body = await self._get(_calls.list_cancellations(query), deadline_seconds)
            return Page(body["cancellations"], body["nextCursor"])

        return AsyncListing(load, cursor)

    async def aclose(self) -> None:
        """Closes connections that are kept for further requests. The client may be used
        on."""
        self._pool.close()

    async def __aenter__(self) -> AsyncRetention:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _get(self, call: Call, deadline_seconds: float | None) -> dict[str, Any]:
        ends_at = self._settings.ends_at(deadline_seconds)
        return (await self._send(replace(call, ends_at=ends_at))).body

    async def _send(self, call: Call) -> Answered:
        return await run_async(attempt(self._settings, call), self._pool)
