from __future__ import annotations

import asyncio
import math
import re
import threading
import time
import traceback
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from retention import (
    AsyncRetention,
    AuthenticationError,
    CacheOptions,
    Hooks,
    InvalidRequestError,
    NotFoundError,
    Page,
    PermissionDeniedError,
    RateLimitError,
    RequestInfo,
    RequestTimeoutError,
    ResponseInfo,
    Retention,
    RetentionError,
    UnavailableError,
    customer_id_of,
)

from retention.types import SellingPlan, Subscription

from .fake_service import (
    ANSWERS,
    ENTRY,
    SESSION,
    SILENCES,
    SUBSCRIPTION,
    TROUBLES,
    Answer,
    FakeService,
    answer_json,
    in_loop,
)


def refusal(message: str) -> dict[str, object]:
    return {"success": False, "message": message}


def numbered(subscription_id: int) -> dict[str, Any]:
    return {**SUBSCRIPTION, "subscriptionId": subscription_id}


class RetentionTest(unittest.TestCase):
    def test_asks_each_operation_at_its_path_with_the_key(self) -> None:
        answers = [
            answer_json({"subscriptions": [ENTRY]}),
            answer_json(ANSWERS["getSubscription"]),
            answer_json(ANSWERS["getMetricsSummary"]),
            answer_json({"plans": []}),
        ]
        with FakeService(*answers) as service:
            retention = service.client(base_url=f"{service.base_url}/")
            self.assertEqual(retention.get_entitlements(501), [ENTRY])
            detail = ANSWERS["getSubscription"]["subscription"]
            self.assertEqual(retention.get_subscription(5), detail)
            summary = ANSWERS["getMetricsSummary"]["summary"]
            self.assertEqual(retention.get_metrics_summary(), summary)
            self.assertEqual(retention.list_plans(), [])
            paths = [
                "/entitlements?customerId=501",
                "/subscriptions/5",
                "/metrics/summary",
                "/plans",
            ]
            self.assertEqual(
                [(path, headers["authorization"]) for path, headers in service.requests],
                [(f"/api/external/v1{path}", "Bearer rtn_test") for path in paths],
            )

    def test_walks_all_pages_and_pages_to_continue_from(self) -> None:
        first = {"subscriptions": [numbered(3), numbered(2)]}
        second = {"subscriptions": [numbered(1)]}
        answers = [
            answer_json(first | {"nextCursor": "a+b"}),
            answer_json(second | {"nextCursor": None}),
        ]
        with FakeService(*answers) as service:
            listing = service.client().list_subscriptions(status="active")
            self.assertEqual([each["subscriptionId"] for each in listing], [3, 2, 1])
            self.assertEqual(
                [path.partition("?")[2] for path, _ in service.requests],
                ["limit=100&status=active", "limit=100&status=active&cursor=a%2Bb"],
            )
        body = {"cancellations": [SESSION], "nextCursor": None}
        with FakeService(answer_json(body)) as service:
            listing2 = service.client().list_cancellations(
                outcome="saved", limit=5, cursor="c"
            )
            [page] = listing2.pages()
            self.assertEqual((len(page.entries), page.next_cursor), (1, None))
            self.assertTrue(
                service.requests[0][0].endswith("?limit=5&outcome=saved&cursor=c")
            )

    def test_gives_the_first_page_or_as_many_entries_as_a_list_needs(self) -> None:
        answers = [
            answer_json({"subscriptions": [numbered(3), numbered(2)], "nextCursor": "n"}),
            answer_json({"subscriptions": [numbered(1)], "nextCursor": None}),
        ]

        def ids(entries: list[Subscription]) -> list[int]:
            return [each["subscriptionId"] for each in entries]

        async def first_page(retention: AsyncRetention) -> Page[Subscription]:
            return await retention.list_subscriptions()

        with FakeService(answers[0]) as service:
            page = service.client().list_subscriptions().first_page()
            self.assertEqual((ids(page.entries), page.next_cursor), ([3, 2], "n"))
            self.assertEqual(in_loop(service.async_client(), first_page), page)
        expected = [(1, [3], 1), (2, [3, 2], 1), (3, [3, 2, 1], 2), (math.inf, [3, 2, 1], 2)]
        for limit, found, requests in expected:

            async def listed(retention: AsyncRetention) -> list[Subscription]:
                return await retention.list_subscriptions().to_list(limit=limit)

            with self.subTest(limit), FakeService(*answers) as service:
                listing = service.client().list_subscriptions()
                self.assertEqual(ids(listing.to_list(limit=limit)), found)
                self.assertEqual(len(service.requests), requests)
            with self.subTest(limit), FakeService(*answers) as service:
                self.assertEqual(ids(in_loop(service.async_client(), listed)), found)
        with self.assertRaisesRegex(ValueError, "limit must be"):
            service.client().list_subscriptions().to_list(limit=0)

    def test_says_which_client_asks_in_which_version(self) -> None:
        project = Path(__file__).parents[1] / "pyproject.toml"
        match = re.search(r'^version = "(.+)"$', project.read_text(), re.MULTILINE)
        assert match
        with FakeService(answer_json({"plans": []})) as service:
            service.client().list_plans()
            agent = service.requests[0][1]["user-agent"]
            self.assertEqual(agent, f"retention-python/{match[1]}")

    def test_lets_nobody_wait_for_an_entitlement_until_a_spent_limit_is_over(self) -> None:
        waits: list[float | None] = []

        def note(response: ResponseInfo) -> None:
            waits.append(response.retry_in_seconds)
            if response.retry_in_seconds is not None:
                raise KeyboardInterrupt

        busy = answer_json(refusal("Slow down"), 429, {"retry-after": "59"})
        hooks = Hooks(on_response=note)
        with FakeService(busy) as service:
            options: dict[str, Any]
            options = {"base_url": service.base_url, "key": "rtn_test", "hooks": hooks}
            with self.assertRaises(RateLimitError):
                Retention(**options).entitled(501)
            with self.assertRaises(RateLimitError):
                in_loop(AsyncRetention(**options), lambda each: each.entitled(501))
            self.assertEqual(waits, [None, None])
            # Jobs would rather wait.
            with self.assertRaises(KeyboardInterrupt):
                Retention(**options).get_entitlements(501)
            self.assertGreaterEqual(waits[2] or 0, 59)

    def test_lets_an_answer_hold_for_an_hour_while_the_service_is_away(self) -> None:
        self.assertEqual(CacheOptions().grace_seconds, 3600)

    def test_raises_a_typed_error_with_what_the_service_said(self) -> None:
        for status, kind in (
            (400, InvalidRequestError),
            (401, AuthenticationError),
            (403, PermissionDeniedError),
            (404, NotFoundError),
            (302, RetentionError),
        ):
            body = refusal(f"Refused with {status}")
            answer = answer_json(body, status, {"x-request-id": "req_1"})
            with self.subTest(status), FakeService(answer) as service:
                with self.assertRaises(kind) as raised:
                    service.client().get_subscription(1)
                error = raised.exception
                self.assertIs(type(error), kind)
                self.assertEqual(
                    str(error), f"getSubscription: Refused with {status} (request req_1)"
                )
                self.assertEqual((error.status, error.request_id), (status, "req_1"))
                self.assertEqual(len(service.requests), 1)

    def test_tries_again_after_trouble_and_says_so_if_it_lasts(self) -> None:
        for trouble, answer in TROUBLES.items():
            for kind in (Retention, AsyncRetention):
                with self.subTest(trouble, client=kind.__name__):
                    self._check_trouble(kind, answer, trouble in SILENCES)

    def _check_trouble(self, kind: type, answer: Answer, is_silence: bool) -> None:
        timeout = 0.5 if is_silence else 60

        def list_plans(service: FakeService, max_retries: int) -> list[SellingPlan]:
            options = {"timeout_seconds": timeout, "max_retries": max_retries}
            if kind is Retention:
                return service.client(**options).list_plans()
            return in_loop(service.async_client(**options), AsyncRetention.list_plans)

        with FakeService(answer, answer_json(ANSWERS["listPlans"])) as service:
            self.assertEqual(len(list_plans(service, 3)), 1)
        with FakeService(answer) as service:
            with self.assertRaises(UnavailableError) as raised:
                list_plans(service, 1)
            is_timeout = isinstance(raised.exception, RequestTimeoutError)
            self.assertEqual(is_timeout, is_silence)
            self.assertEqual(len(service.requests), 2)

    def test_waits_as_long_as_retry_after_says_unless_that_is_too_long(self) -> None:
        responses: list[ResponseInfo] = []
        busy = answer_json(refusal("Slow down"), 429, {"retry-after": "1"})
        with FakeService(busy, answer_json({"plans": []})) as service:
            service.client(hooks=Hooks(on_response=responses.append)).list_plans()
        refused, answered = responses
        self.assertGreaterEqual(refused.retry_in_seconds or 0, 1)
        self.assertIsInstance(refused.error, RateLimitError)
        self.assertEqual((answered.request.attempt, answered.status), (2, 200))
        long = answer_json(refusal("Slow down"), 429, {"retry-after": "61"})
        with FakeService(long) as service, self.assertRaises(RateLimitError) as raised:
            service.client().list_plans()
        self.assertEqual(raised.exception.retry_after_seconds, 61)

    def test_lets_a_hook_add_headers_and_recognise_the_request(self) -> None:
        begun: list[RequestInfo] = []
        ended: list[RequestInfo] = []

        def add(request: RequestInfo) -> None:
            request.headers["traceparent"] = f"00-{request.operation}"
            begun.append(request)

        def note(response: ResponseInfo) -> None:
            ended.append(response.request)

        with FakeService(answer_json({"plans": []})) as service:
            service.client(hooks=Hooks(on_request=add, on_response=note)).list_plans()
            self.assertEqual(service.requests[0][1]["traceparent"], "00-listPlans")
            self.assertEqual(begun, ended)

            def inject(request: RequestInfo) -> None:
                request.headers["traceparent"] = "1\r\nX-Other: 2"

            with self.assertRaisesRegex(ValueError, "line break"):
                service.client(hooks=Hooks(on_request=inject)).list_plans()

    def test_says_what_to_do_about_a_redirection(self) -> None:
        def redirect(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(302)
            handler.send_header("location", "https://elsewhere.example/")
            handler.end_headers()
            handler.close_connection = True

        with FakeService(redirect) as service:
            with self.assertRaisesRegex(RetentionError, "Set base_url to that one"):
                service.client().list_plans()
            self.assertEqual(len(service.requests), 1)

    def test_refuses_options_and_ids_that_cannot_work(self) -> None:
        options: dict[str, Any]
        options = {"base_url": "https://retention.example", "key": "rtn_x"}
        wrongs: list[tuple[dict[str, Any], str]] = [
            ({"base_url": "retention.example"}, "base_url must be"),
            ({"base_url": "https://a:b@retention.example"}, "base_url must be"),
            ({"base_url": "https://retention.example?a=1"}, "base_url must be"),
            ({"base_url": "https://retention example"}, "base_url must be"),
            ({"key": ""}, "Is its environment variable set"),
            ({"key": None}, "Is its environment variable set"),
            ({"timeout_seconds": 0}, "timeout_seconds"),
            ({"timeout_seconds": 1e12}, "timeout_seconds"),
            ({"timeout_seconds": None}, "timeout_seconds"),
            ({"deadline_seconds": 0}, "deadline_seconds"),
            ({"base_url": None}, "base_url must be"),
            ({"base_url": "https://r.example/api/external/v1/"}, "Leave out"),
            ({"max_retries": -1}, "max_retries"),
            ({"max_retries": 1.5}, "max_retries"),
        ]
        for wrong, message in wrongs:
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, message):
                Retention(**{**options, **wrong})
        with self.assertRaisesRegex(ValueError, "grace_seconds"):
            CacheOptions(grace_seconds=-1)
        for customers in (0, 1.5):
            with self.assertRaisesRegex(ValueError, "max_customers"):
                CacheOptions(max_customers=customers)  # type: ignore[arg-type]
        secrets = [{"key": "secret\n"}, {"base_url": "http://user:secret@r.example"}]
        for secret in secrets:
            with self.assertRaises(ValueError) as raised:
                Retention(**{**options, **secret})
            self.assertNotIn("secret", str(raised.exception))
        numbers: list[Any] = [0, 2**53, True, 1.5, "5", [501]]
        for number in numbers:
            with self.subTest(number):
                advice = r"int\('5'\)" if number == "5" else "customer_id_of"
                with self.assertRaisesRegex(ValueError, advice):
                    Retention(**options).get_entitlements(number)
                with self.assertRaisesRegex(ValueError, advice):
                    Retention(**options).entitled(number)

    def test_knows_customers_by_the_text_of_their_source(self) -> None:
        self.assertEqual(customer_id_of("cus_NffrFeUfNV2Hib"), 4721611223403156)
        number = customer_id_of("gid://shopify/Customer/6940095564")
        self.assertEqual(number, 6940095564)
        wrongs: list[Any] = [None, 5, "", "cus_\ud800", b"cus_5"]
        for wrong in wrongs:
            with self.assertRaisesRegex(ValueError, "customer_id_of needs a text"):
                customer_id_of(wrong)
        self.assertGreater(customer_id_of("cus_\U0001f600"), 2**52)

    def test_asks_once_for_all_threads_that_wait_for_a_customer(self) -> None:
        arrived, go = threading.Event(), threading.Event()

        def answer(handler: BaseHTTPRequestHandler) -> None:
            arrived.set()
            go.wait()
            answer_json({"subscriptions": [ENTRY]})(handler)

        with FakeService(answer) as service:
            retention = service.client()
            with ThreadPoolExecutor(20) as pool:
                asked = [pool.submit(retention.entitled, 501) for _ in range(20)]
                arrived.wait()
                go.set()
                self.assertEqual({each.result() for each in asked}, {True})
            self.assertEqual(len(service.requests), 1)
            # What was under way when it was told to forget is not kept.
            arrived.clear()
            go.clear()
            retention.forget(501)
            with ThreadPoolExecutor(1) as pool:
                early = pool.submit(retention.entitled, 501)
                arrived.wait()
                retention.forget(501)
                go.set()
                early.result()
            retention.entitled(501)
            self.assertEqual(len(service.requests), 3)

    def test_ends_only_the_thread_or_task_that_is_interrupted(self) -> None:
        class Interrupt(BaseException):
            pass

        answered = threading.Event()

        def interrupt(_: ResponseInfo) -> None:
            answered.set()
            raise Interrupt

        with FakeService(answer_json({"subscriptions": [ENTRY]})) as service:
            hooks = Hooks(on_response=interrupt)
            retention = service.client(hooks=hooks)
            with ThreadPoolExecutor(2) as pool:
                asked = [pool.submit(retention.entitled, 501) for _ in range(2)]
                answered.wait()
                kinds = {type(each.exception()) for each in asked}
            self.assertTrue(kinds <= {Interrupt, UnavailableError}, kinds)

        async def cancel_one(retention: AsyncRetention) -> bool:
            first = asyncio.create_task(retention.entitled(501))
            second = asyncio.create_task(retention.entitled(501))
            await asyncio.sleep(0)
            first.cancel()
            return await second

        with FakeService(answer_json({"subscriptions": [ENTRY]})) as service:
            self.assertTrue(in_loop(service.async_client(), cancel_one))
            self.assertEqual(len(service.requests), 1)

    def test_ends_a_request_when_its_last_task_has_gone(self) -> None:
        closed = threading.Event()

        def never_answer(handler: BaseHTTPRequestHandler) -> None:
            handler.rfile.read()
            closed.set()

        busy = answer_json(refusal("Busy"), 503, {"retry-after": "30"})

        async def leave(service: FakeService) -> bool:
            waits = asyncio.Event()

            def note(response: ResponseInfo) -> None:
                if response.retry_in_seconds is not None:
                    waits.set()

            retention = service.async_client(hooks=Hooks(on_response=note))
            first, second = [
                asyncio.create_task(retention.entitled(501)) for _ in range(2)
            ]
            while not service.requests:
                await asyncio.sleep(0.01)
            first.cancel()
            await asyncio.wait([first])
            self.assertFalse(closed.is_set())
            second.cancel()
            await asyncio.wait([second])
            await asyncio.to_thread(closed.wait)
            third = asyncio.create_task(retention.entitled(501))
            await waits.wait()
            third.cancel()
            await asyncio.wait([third])
            # It does not wait for what the others began.
            answer = await retention.entitled(501)
            await retention.aclose()
            self.assertEqual(asyncio.all_tasks(), {asyncio.current_task()})
            return answer

        answers = [never_answer, busy, answer_json({"subscriptions": [ENTRY]})]
        with FakeService(*answers) as service:
            self.assertTrue(asyncio.run(leave(service)))
            self.assertEqual(len(service.requests), 3)

    def test_gives_a_caller_with_more_time_than_a_request_another_one(self) -> None:
        def serve() -> Answer:
            count = 0

            def answer(handler: BaseHTTPRequestHandler) -> None:
                nonlocal count
                count += 1
                if count == 1:
                    handler.rfile.read()
                answer_json({"subscriptions": [ENTRY]})(handler)

            return answer

        with FakeService(serve()) as service, ThreadPoolExecutor(2) as pool:
            retention = service.client()
            short = pool.submit(retention.entitled, 501, deadline_seconds=0.5)
            while not service.requests:
                time.sleep(0.01)
            long = pool.submit(retention.entitled, 501)
            self.assertIsInstance(short.exception(), RequestTimeoutError)
            self.assertTrue(long.result())

        async def ask(retention: AsyncRetention) -> tuple[object, object]:
            return await asyncio.gather(
                retention.entitled(501, deadline_seconds=0.2),
                retention.entitled(501),
                return_exceptions=True,
            )

        with FakeService(serve()) as service:
            short_one, long_one = in_loop(service.async_client(), ask)
            self.assertIsInstance(short_one, RequestTimeoutError)
            self.assertTrue(long_one)

    def test_keeps_to_a_deadline_while_another_thread_or_task_waits_longer(self) -> None:
        async def ask(retention: AsyncRetention) -> None:
            long = asyncio.create_task(retention.entitled(501, deadline_seconds=5))
            await asyncio.sleep(0)
            with self.assertRaisesRegex(RequestTimeoutError, "before the deadline"):
                await retention.entitled(501, deadline_seconds=0.1)
            self.assertFalse(long.done())
            long.cancel()

        with FakeService(SILENCES["never answers"]) as service:
            in_loop(service.async_client(), ask)
        with FakeService(SILENCES["never answers"]) as service:
            retention = service.client()
            with ThreadPoolExecutor(1) as pool:
                long = pool.submit(retention.entitled, 501, deadline_seconds=1)
                while not service.requests:
                    time.sleep(0.01)
                with self.assertRaisesRegex(RequestTimeoutError, "before the deadline"):
                    retention.entitled(501, deadline_seconds=0.1)
                self.assertIsInstance(long.exception(), RequestTimeoutError)

    def test_refuses_hooks_that_return_a_coroutine(self) -> None:
        async def fail(_: object) -> None:
            raise AssertionError

        hook: Any = fail
        with FakeService(answer_json({"plans": []})) as service:
            for hooks in (Hooks(on_request=hook), Hooks(on_response=hook)):
                with self.assertRaisesRegex(TypeError, "must be synchronous"):
                    service.client(hooks=hooks).list_plans()
                with self.assertRaisesRegex(TypeError, "must be synchronous"):
                    in_loop(service.async_client(hooks=hooks), AsyncRetention.list_plans)

    def test_does_not_show_the_key_in_a_trace_with_the_values_of_variables(self) -> None:
        with FakeService() as service:
            closed = service.base_url
        options: dict[str, Any] = {"base_url": closed, "max_retries": 0}
        async_client = AsyncRetention(key="rtn_secret", **options)
        calls: list[Callable[[], object]] = [
            Retention(key="rtn_secret", **options).list_plans,
            lambda: asyncio.run(async_client.list_plans()),
        ]
        for call in calls:
            try:
                call()
            except UnavailableError as error:
                report = traceback.TracebackException.from_exception(
                    error, capture_locals=True
                )
                text = "".join(report.format())
                self.assertIn("Authorization", text)
                self.assertNotIn("rtn_secret", text)

    def test_keeps_the_answers_about_the_last_customers(self) -> None:
        with FakeService(answer_json({"subscriptions": [ENTRY]})) as service:
            retention = service.client(cache=CacheOptions(max_customers=2))
            for customer in (1, 2, 1, 3, 1):
                retention.entitled(customer)
            self.assertEqual(len(service.requests), 3)
            retention.entitled(2)
            self.assertEqual(len(service.requests), 4)

    def test_does_not_hold_up_other_tasks_while_it_waits(self) -> None:
        many = 100
        all_arrived = threading.Barrier(many)

        def answer(handler: BaseHTTPRequestHandler) -> None:
            # Nothing is answered before all have arrived.
            all_arrived.wait()
            answer_json({"subscriptions": [ENTRY]})(handler)

        async def ask(retention: AsyncRetention) -> list[bool]:
            customers = range(1, many + 1)
            return await asyncio.gather(*map(retention.entitled, customers))

        with FakeService(answer) as service:
            self.assertTrue(all(in_loop(service.async_client(), ask)))

    def test_walks_lists_with_asyncio(self) -> None:
        first = {"subscriptions": [numbered(3)], "nextCursor": "next"}
        second = {"subscriptions": [numbered(2)], "nextCursor": None}

        async def walk(retention: AsyncRetention) -> list[int]:
            listing = retention.list_subscriptions(status="active")
            return [each["subscriptionId"] async for each in listing]

        with FakeService(answer_json(first), answer_json(second)) as service:
            self.assertEqual(in_loop(service.async_client(), walk), [3, 2])


if __name__ == "__main__":
    unittest.main()
