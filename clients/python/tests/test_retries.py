"""When the client tries again, and how long it waits before it does: with a fixed clock
and fixed chance."""

from __future__ import annotations

import asyncio
import math
import time
import unittest
from dataclasses import replace
from unittest import mock

from retention import (
    RateLimitError,
    RequestTimeoutError,
    Retention,
    RetentionError,
    UnavailableError,
    _calls,
)
from retention._attempts import Reply, Send, Wait, attempt

from .fake_service import ANSWERS, FakeService, answer_json

BROKEN = b"HTTP/1.1 500 Error\r\nContent-Length: 2\r\n\r\n{}"


def busy(retry_after: int | str) -> bytes:
    lines = ["HTTP/1.1 429 Busy", f"Retry-After: {retry_after}", "Content-Length: 2"]
    return "\r\n".join([*lines, "", "{}"]).encode()


class Course:
    """What a call did: how often it sent, for how long at most, and its waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.limits: list[float] = []
        self.waits: list[float] = []
        self.error: RetentionError | None = None


def course_of(
    *replies: Reply,
    chance: float = 0.5,
    takes: float = 0,
    deadline: float = math.inf,
    max_retries: int = 3,
    timeout: float = 10,
) -> Course:
    """Follows a call whose attempts come to these replies, the last one repeatedly.

    :param takes: seconds from a request to its reply
    """
    course = Course()
    client = Retention(
        base_url="http://service.test",
        key="rtn_test",
        timeout_seconds=timeout,
        max_retries=max_retries,
    )
    call = replace(_calls.list_plans, ends_at=course.now + deadline)
    with mock.patch("random.random", return_value=chance), mock.patch.object(
        time, "monotonic", lambda: course.now
    ):
        steps = attempt(client._settings, call)
        step: Send | Wait = next(steps)
        try:
            while True:
                if isinstance(step, Wait):
                    course.waits.append(step.seconds)
                    course.now += step.seconds
                    step = steps.send(None)
                else:
                    course.limits.append(step.timeout_seconds)
                    course.now += takes
                    number = min(len(course.limits), len(replies))
                    step = steps.send(replies[number - 1])
        except StopIteration:
            pass
        except RetentionError as error:
            course.error = error
    return course


class RetriesTest(unittest.TestCase):
    def test_waits_twice_as_long_each_time_up_to_eight_seconds(self) -> None:
        course = course_of(BROKEN, max_retries=8)
        self.assertEqual(course.waits, [0.125, 0.25, 0.5, 1, 2, 4, 4, 4])
        self.assertEqual(len(course.limits), 9)
        self.assertIsInstance(course.error, UnavailableError)

    def test_waits_a_random_part_of_that_so_that_clients_do_not_come_back_together(
        self,
    ) -> None:
        waits = {
            chance: course_of(BROKEN, chance=chance).waits for chance in (0, 0.25, 0.75)
        }
        self.assertEqual(
            waits,
            {0: [0, 0, 0], 0.25: [0.0625, 0.125, 0.25], 0.75: [0.1875, 0.375, 0.75]},
        )

    def test_waits_as_long_as_it_is_told_and_up_to_a_quarter_of_a_second(self) -> None:
        self.assertEqual(course_of(busy(7)).waits, [7.125, 7.125, 7.125])
        self.assertEqual(course_of(busy(0), chance=0.75).waits, [0.1875] * 3)
        self.assertEqual(course_of(busy(60), max_retries=1).waits, [60.125])
        refused = course_of(busy(61))
        self.assertEqual((refused.waits, len(refused.limits)), ([], 1))
        self.assertIsInstance(refused.error, RateLimitError)
        # What is no number of seconds says nothing.
        self.assertEqual(course_of(busy("soon")).waits, [0.125, 0.25, 0.5])

    def test_tries_as_often_as_the_options_say(self) -> None:
        for max_retries in (0, 1, 3):
            course = course_of(BROKEN, max_retries=max_retries)
            self.assertEqual(len(course.limits), max_retries + 1)
        answered = b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"plans":[]}'
        lucky = course_of(BROKEN, ConnectionResetError(), TimeoutError(), answered)
        self.assertEqual((len(lucky.limits), lucky.error), (4, None))
        unlucky = course_of(BROKEN, ConnectionResetError(), BROKEN, BROKEN, answered)
        self.assertEqual(len(unlucky.limits), 4)
        self.assertIsInstance(unlucky.error, UnavailableError)

    def test_begins_no_wait_that_would_last_until_the_deadline(self) -> None:
        # It ends at 0.125, and would end after another 0.25 at 0.375.
        self.assertEqual(course_of(BROKEN, deadline=0.375).waits, [0.125])
        self.assertEqual(course_of(BROKEN, deadline=0.375 + 0.0625).waits, [0.125, 0.25])
        silent = course_of(TimeoutError(), takes=10, deadline=15)
        self.assertEqual(silent.waits, [0.125])
        # The second attempt has what is left.
        self.assertEqual(silent.limits, [10, 4.875])
        self.assertIsInstance(silent.error, RequestTimeoutError)

    def test_both_clients_wait_before_they_send_again(self) -> None:
        closing = {"connection": "close"}
        broken = answer_json({"success": False, "message": "Broken"}, 500, closing)
        answers = [broken, broken, answer_json(ANSWERS["listPlans"], headers=closing)]
        waits: list[float] = []
        wait = asyncio.sleep

        async def note(seconds: float) -> None:
            waits.append(seconds)
            await wait(0)

        chance = mock.patch("random.random", return_value=0.5)
        with chance, mock.patch("time.sleep", waits.append):
            with FakeService(*answers) as service:
                self.assertEqual(len(service.client().list_plans()), 1)
                self.assertEqual(len(service.requests), 3)
        self.assertEqual(waits, [0.125, 0.25])
        waits.clear()
        with chance, mock.patch("asyncio.sleep", note), FakeService(*answers) as service:
            self.assertEqual(len(asyncio.run(service.async_client().list_plans())), 1)
            self.assertEqual(len(service.requests), 3)
        self.assertEqual(waits, [0.125, 0.25])


if __name__ == "__main__":
    unittest.main()
