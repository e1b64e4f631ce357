from __future__ import annotations

import asyncio
import unittest
from typing import Any

from retention import (
    AsyncRetention,
    AuthenticationError,
    CacheOptions,
    Hooks,
    InvalidRequestError,
    NotFoundError,
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

from .fake_service import ENTRY, TROUBLES, FakeService, answer_json


def refusal(message: str) -> dict[str, object]:
    return {"success": False, "message": message}


class RetentionTest(unittest.TestCase):
    def test_asks_each_operation_at_its_path_with_the_key(self) -> None:
        answers = [
            answer_json({"subscriptions": [ENTRY]}),
            answer_json({"subscription": {"subscriptionId": 5}}),
            answer_json({"summary": {"mrr": 10}}),
            answer_json({"plans": []}),
        ]
        with FakeService(*answers) as service:
            retention = service.client(base_url=f"{service.base_url}/")
            self.assertEqual(retention.get_entitlements(501), [ENTRY])
            self.assertEqual(retention.get_subscription(5)["subscriptionId"], 5)
            self.assertEqual(retention.get_metrics_summary()["mrr"], 10)
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
        first = {"subscriptions": [{"subscriptionId": 3}, {"subscriptionId": 2}]}
        second = {"subscriptions": [{"subscriptionId": 1}]}
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
        body = {"cancellations": [{"sessionId": 9}], "nextCursor": None}
        with FakeService(answer_json(body)) as service:
            listing2 = service.client().list_cancellations(
                outcome="saved", limit=5, cursor="c"
            )
            [page] = listing2.pages()
            self.assertEqual((len(page.entries), page.next_cursor), (1, None))
            self.assertTrue(
                service.requests[0][0].endswith("?limit=5&outcome=saved&cursor=c")
            )

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
                self.assertEqual(str(error), f"Refused with {status}")
                self.assertEqual((error.status, error.request_id), (status, "req_1"))
                self.assertEqual(len(service.requests), 1)

    def test_tries_again_after_trouble_and_says_so_if_it_lasts(self) -> None:
        for trouble, answer in TROUBLES.items():
            with self.subTest(trouble):
                with FakeService(answer, answer_json({"plans": [{}]})) as service:
                    self.assertEqual(len(service.client().list_plans()), 1)
                with FakeService(answer) as service:
                    with self.assertRaises(UnavailableError) as raised:
                        service.client(max_retries=1).list_plans()
                    self.assertEqual(
                        isinstance(raised.exception, RequestTimeoutError),
                        trouble in ("never answers", "sends a byte now and then"),
                    )
                    self.assertEqual(len(service.requests), 2)

    def test_waits_as_long_as_retry_after_says_unless_that_is_too_long(self) -> None:
        responses: list[ResponseInfo] = []
        busy = answer_json(refusal("Slow down"), 429, {"retry-after": "1"})
        with FakeService(busy, answer_json({"plans": []})) as service:
            service.client(hooks=Hooks(on_response=responses.append)).list_plans()
        refused, answered = responses
        self.assertGreaterEqual(refused.retry_in_seconds or 0, 1)
        self.assertIsInstance(refused.error, RateLimitError)
        self.assertEqual((answered.attempt, answered.status), (2, 200))
        long = answer_json(refusal("Slow down"), 429, {"retry-after": "61"})
        with FakeService(long) as service, self.assertRaises(RateLimitError) as raised:
            service.client().list_plans()
        self.assertEqual(raised.exception.retry_after_seconds, 61)

    def test_lets_a_hook_add_headers(self) -> None:
        def add(request: RequestInfo) -> None:
            request.headers["traceparent"] = f"00-{request.operation}"

        with FakeService(answer_json({"plans": []})) as service:
            service.client(hooks=Hooks(on_request=add)).list_plans()
            self.assertEqual(service.requests[0][1]["traceparent"], "00-listPlans")

    def test_refuses_options_and_ids_that_cannot_work(self) -> None:
        options: dict[str, Any] = {"base_url": "https://retention.example", "key": "rtn_x"}
        for wrong, message in (
            ({"base_url": "retention.example"}, "base_url must be"),
            ({"key": ""}, "Is its environment variable set"),
            ({"key": None}, "Is its environment variable set"),
            ({"timeout_seconds": 0}, "timeout_seconds"),
            ({"max_retries": -1}, "max_retries"),
        ):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, message):
                Retention(**(options | wrong))
        with self.assertRaisesRegex(ValueError, "grace_seconds"):
            CacheOptions(grace_seconds=-1)
        with self.assertRaises(ValueError) as raised:
            Retention(**(options | {"key": "secret\n"}))
        self.assertNotIn("secret", str(raised.exception))
        with self.assertRaisesRegex(ValueError, "customer_id_of"):
            Retention(**options).get_entitlements(0)

    def test_knows_customers_by_the_text_of_their_source(self) -> None:
        self.assertEqual(customer_id_of("cus_NffrFeUfNV2Hib"), 4721611223403156)
        number = customer_id_of("gid://shopify/Customer/6940095564")
        self.assertEqual(number, 6940095564)

    def test_works_with_asyncio(self) -> None:
        page = {"subscriptions": [{"subscriptionId": 3}], "nextCursor": None}

        async def walk(retention: AsyncRetention) -> list[int]:
            return [
                each["subscriptionId"] async for each in retention.list_subscriptions()
            ]

        with FakeService(answer_json(page)) as service:
            retention = AsyncRetention(base_url=service.base_url, key="rtn_test")
            self.assertEqual(asyncio.run(walk(retention)), [3])
        body = answer_json({"subscriptions": [ENTRY]})
        with FakeService(body) as service:
            retention = AsyncRetention(base_url=service.base_url, key="rtn_test")

            async def ask() -> list[bool]:
                many = [retention.entitled(1) for _ in range(20)]
                return await asyncio.gather(*many)

            self.assertEqual(set(asyncio.run(ask())), {True})
            self.assertEqual(len(service.requests), 1)


if __name__ == "__main__":
    unittest.main()
