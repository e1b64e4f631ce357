"""Runs cases of outages in virtual time: reads them as JSON, writes what a client did.

Usage: python -m tests.virtual_time sync|async < cases.json
"""

from __future__ import annotations

import asyncio
import json
import math
import selectors
import sys
import time
from datetime import datetime, timezone
from typing import Any, Optional, Union
from unittest import mock

from retention import AsyncRetention, CacheOptions, Retention, RetentionError, _transport
from retention._attempts import Reply, Send

# Epoch milliseconds at which cases begin.
EPOCH = 1_000_000

Result = Union[bool, str, None]

# As the other client names them.
ERROR_NAMES = {"RequestTimeoutError": "TimeoutError"}

TROUBLES = {
    "truncated": (200, '{"subscriptions":[{"subscriptionId":1,"isEnt'),
    "misshapen": (200, '{"subscriptions":[{}]}'),
    "error": (500, '{"success":false,"message":"Internal server error."}'),
    "page": (502, "<h1>Bad gateway</h1>"),
}


class Clock:
    """Milliseconds since the case began."""

    def __init__(self) -> None:
        self.now = 0.0

    def epoch_seconds(self) -> float:
        return (EPOCH + self.now) / 1000

    def sleep(self, seconds: float) -> None:
        self.now += seconds * 1000


class JumpingSelector(selectors.DefaultSelector):
    """Waits in virtual time: an event loop with nothing to do jumps to its next timer."""

    clock: Clock

    def select(self, timeout: Optional[float] = None) -> list[Any]:
        found = super().select(0)
        if not found and timeout is not None:
            # The loop's clock is in seconds; without this it might never get there.
            self.clock.sleep(timeout + 1e-9)
        return found


class Service:
    """What the service of a case answers, and what was asked."""

    def __init__(self, case: dict[str, Any], clock: Clock) -> None:
        self._case = case
        self._clock = clock
        self.attempts: list[dict[str, Any]] = []

    def exchange(self, request: Send, _: object) -> Reply:
        attempt, reply = self._foresee(request)
        self._clock.now = attempt["endedAt"]
        return reply

    async def exchange_async(self, request: Send, _: object) -> Reply:
        attempt, reply = self._foresee(request)
        await asyncio.sleep((attempt["endedAt"] - self._clock.now) / 1000)
        return reply

    def _foresee(self, request: Send) -> tuple[dict[str, Any], Reply]:
        """What will become of a request, by the conditions when it is sent and until it
        is answered."""
        case = self._case
        sent_at = self._clock.now
        customer = int(request.content.partition(b"customerId=")[2].split()[0])
        current = [each for each in case["conditions"] if each["from"] <= sent_at][-1]
        kind, latency = current["kind"], current["latency"]
        limit = request.timeout_seconds * 1000
        lasts_too_long = kind == "silent" or (kind != "down" and latency >= limit)
        takes = 1 if kind == "down" else latency
        ends_at = sent_at + (limit if lasts_too_long else takes)
        attempt = {
            "customerId": customer,
            "sentAt": sent_at,
            "endedAt": ends_at,
            "readAt": None,
            "error": "UnavailableError",
            "retryAfterSeconds": None,
        }
        self.attempts.append(attempt)
        for later in case["conditions"]:
            if later["kind"] == "down" and sent_at < later["from"] <= ends_at:
                attempt["endedAt"] = later["from"]
                return attempt, ConnectionResetError()
        if lasts_too_long:
            attempt["error"] = "TimeoutError"
            return attempt, TimeoutError()
        if kind == "up":
            read_at = sent_at + latency / 2
            attempt.update(readAt=read_at, error=None)
            body = json.dumps({"subscriptions": self._entries(customer, read_at)})
            return attempt, _answer(200, body)
        if kind == "busy":
            seconds = current["retryAfterSeconds"]
            attempt.update(retryAfterSeconds=seconds, error="RateLimitError")
            return attempt, _answer(429, "{}", f"Retry-After: {seconds}\r\n")
        if kind in TROUBLES:
            return attempt, _answer(*TROUBLES[kind])
        return attempt, ConnectionRefusedError()

    def _entries(self, customer: int, at: float) -> list[dict[str, Any]]:
        states = self._case["states"][customer - 1]
        current = [each for each in states if each["from"] <= at][-1]
        return [_wire_entry(entry, at) for entry in current["entries"]]


def _wire_entry(entry: dict[str, Any], at: float) -> dict[str, Any]:
    paid = entry["paidThrough"]
    until = None
    if paid is not None:
        moment = datetime.fromtimestamp((EPOCH + paid) / 1000, timezone.utc)
        until = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "subscriptionId": 1,
        "planId": entry["planId"],
        "planName": "Plan",
        "planType": "subscription",
        "status": entry["status"],
        "isEntitled": entry["status"] == "active" or (paid is not None and at < paid),
        "paidThroughAt": until,
    }


def _answer(status: int, body: str, headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status} Status\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return (head + body).encode()


def _options(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "base_url": "http://service.test",
        "key": "rtn_test",
        "timeout_seconds": case["timeoutSeconds"],
        "deadline_seconds": case["deadlineSeconds"] or math.inf,
        "max_retries": case["maxRetries"],
        "cache": CacheOptions(
            max_age_seconds=case["maxAgeSeconds"],
            refusal_max_age_seconds=case["refusalMaxAgeSeconds"],
            grace_seconds=case["graceSeconds"],
        ),
    }


def _name(error: RetentionError) -> str:
    name = type(error).__name__
    return ERROR_NAMES.get(name, name)


def run_sync(case: dict[str, Any], clock: Clock) -> list[dict[str, Any]]:
    """One call after the other: a call that lasts holds up those behind it."""
    retention = Retention(**_options(case))
    outcomes: list[dict[str, Any]] = []
    for index, step in enumerate(case["steps"]):
        clock.now = max(clock.now, step["at"])
        outcome = {"step": index, "calledAt": clock.now}
        result: Result = None
        if step["forget"]:
            retention.forget(step["customerId"])
        else:
            try:
                result = retention.entitled(step["customerId"], plan_ids=step["planIds"])
            except RetentionError as error:
                result = _name(error)
        outcomes.append({**outcome, "answeredAt": clock.now, "result": result})
    return outcomes


async def run_async(case: dict[str, Any], clock: Clock) -> list[dict[str, Any]]:
    """Each call when it is due."""
    retention = AsyncRetention(**_options(case))
    outcomes: list[dict[str, Any]] = []

    async def do(index: int, step: dict[str, Any]) -> None:
        await asyncio.sleep(step["at"] / 1000)
        outcome: dict[str, Any] = {"step": index, "calledAt": clock.now}
        outcomes.append(outcome)
        result: Result = None
        if step["forget"]:
            retention.forget(step["customerId"])
        else:
            try:
                result = await retention.entitled(
                    step["customerId"], plan_ids=step["planIds"]
                )
            except RetentionError as error:
                result = _name(error)
        outcome.update(answeredAt=clock.now, result=result)

    await asyncio.gather(*(do(index, step) for index, step in enumerate(case["steps"])))
    return outcomes


def run(kind: str, case: dict[str, Any]) -> dict[str, Any]:
    clock = Clock()
    service = Service(case, clock)
    with mock.patch.multiple(
        time, time=clock.epoch_seconds, monotonic=clock.epoch_seconds, sleep=clock.sleep
    ), mock.patch.multiple(
        _transport, exchange=service.exchange, exchange_async=service.exchange_async
    ):
        if kind == "sync":
            outcomes = run_sync(case, clock)
        else:
            selector = JumpingSelector()
            selector.clock = clock
            loop = asyncio.SelectorEventLoop(selector)
            outcomes = loop.run_until_complete(run_async(case, clock))
            loop.close()
    return {"attempts": service.attempts, "outcomes": outcomes}


if __name__ == "__main__":
    json.dump([run(sys.argv[1], case) for case in json.load(sys.stdin)], sys.stdout)
