"""The operations as requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from ._attempts import Call

_ROOT = "/api/external/v1"

ENTITLED_DEADLINE_SECONDS = 2
"""Unless another one is chosen: somebody waits for the answer."""


def get_entitlements(customer_id: int) -> Call:
    path = f"{_ROOT}/entitlements?customerId={_id_text(customer_id, 'customer_id')}"
    return Call("getEntitlements", path)


def list_subscriptions(query: Mapping[str, object]) -> Call:
    path = f"{_ROOT}/subscriptions?{_query(query)}"
    return Call("listSubscriptions", path)


def get_subscription(subscription_id: int) -> Call:
    path = f"{_ROOT}/subscriptions/{_id_text(subscription_id, 'subscription_id')}"
    return Call("getSubscription", path)


get_metrics_summary = Call("getMetricsSummary", f"{_ROOT}/metrics/summary")

list_plans = Call("listPlans", f"{_ROOT}/plans")


def list_cancellations(query: Mapping[str, object]) -> Call:
    path = f"{_ROOT}/cancellations?{_query(query)}"
    return Call("listCancellations", path)


def _query(given: Mapping[str, object]) -> str:
    return urlencode({name: value for name, value in given.items() if value is not None})


def _id_text(number: int, name: str) -> str:
    check_id(number, name)
    return str(number)


def check_id(number: object, name: str) -> None:
    """:raises ValueError: for what cannot be an id"""
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    if not is_whole or not 1 <= number < 2**53:  # type: ignore[operator]
        is_digits = isinstance(number, str) and re.fullmatch("[1-9][0-9]{0,15}", number)
        advice = (
            f"pass int({number!r})"
            if is_digits
            else "for a customer's text at the source, pass customer_id_of(text)"
        )
        raise ValueError(
            f"{name} must be a whole number from 1 to 2**53 - 1; it is {number!r}: "
            f"{advice}."
        )
