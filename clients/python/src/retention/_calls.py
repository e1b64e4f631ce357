"""The operations as requests."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from ._attempts import Call

_ROOT = "/api/external/v1"


def get_entitlements(customer_id: int, retries: bool = True) -> Call:
    path = f"{_ROOT}/entitlements?customerId={_id_text(customer_id, 'customer_id')}"
    return Call("getEntitlements", path, "subscriptions", retries)


def list_subscriptions(query: Mapping[str, object]) -> Call:
    path = f"{_ROOT}/subscriptions?{_query(query)}"
    return Call("listSubscriptions", path, "subscriptions")


def get_subscription(subscription_id: int) -> Call:
    path = f"{_ROOT}/subscriptions/{_id_text(subscription_id, 'subscription_id')}"
    return Call("getSubscription", path, "subscription")


get_metrics_summary = Call("getMetricsSummary", f"{_ROOT}/metrics/summary", "summary")

list_plans = Call("listPlans", f"{_ROOT}/plans", "plans")


def list_cancellations(query: Mapping[str, object]) -> Call:
    path = f"{_ROOT}/cancellations?{_query(query)}"
    return Call("listCancellations", path, "cancellations")


def _query(given: Mapping[str, object]) -> str:
    return urlencode({name: value for name, value in given.items() if value is not None})


def _id_text(number: int, name: str) -> str:
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    if not is_whole or not 1 <= number < 2**53:
        raise ValueError(
            f"{name} must be a whole number from 1 to 2**53 - 1; it is {number!r}. "
            "For a customer's text at the source, there is customer_id_of."
        )
    return str(number)
