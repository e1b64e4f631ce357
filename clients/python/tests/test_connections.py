from __future__ import annotations

import asyncio
import json
import os
import threading
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from typing import Any

from retention import AsyncRetention, UnavailableError
from retention._framing import Framing

from .fake_service import ANSWERS, ENTRY, FakeService, answer_json, in_loop

plans = answer_json({"plans": []})
_HEAD = b"HTTP/1.1 200 OK\r\n"


def _answer_and_leave(handler: BaseHTTPRequestHandler) -> None:
    """As a server does that restarts: it did not say that it would close."""
    plans(handler)
    handler.close_connection = True


def _close(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


class ConnectionsTest(unittest.TestCase):
    def _on_both(
        self,
        check: Callable[[Callable[[FakeService, int], list[Any]]], None],
    ) -> None:
        """:param check: gets a function that asks for the plans, so many times"""

        def ask(service: FakeService, times: int) -> list[Any]:
            with service.client(max_retries=0) as retention:
                return [retention.list_plans() for _ in range(times)]

        def ask_async(service: FakeService, times: int) -> list[Any]:
            async def work(retention: AsyncRetention) -> list[Any]:
                return [await retention.list_plans() for _ in range(times)]

            return in_loop(service.async_client(max_retries=0), work)

        for kind, function in (("sync", ask), ("async", ask_async)):
            with self.subTest(kind):
                check(function)

    def test_asks_again_on_the_same_connection(self) -> None:
        def check(ask: Callable[[FakeService, int], list[Any]]) -> None:
            with FakeService(plans) as service:
                self.assertEqual(ask(service, 5), [[]] * 5)
                self.assertEqual((len(service.requests), service.connections), (5, 1))

        self._on_both(check)

    def test_opens_another_one_where_the_service_has_closed_it(self) -> None:
        def check(ask: Callable[[FakeService, int], list[Any]]) -> None:
            with FakeService(_answer_and_leave) as service:
                self.assertEqual(ask(service, 3), [[]] * 3)
                self.assertEqual((len(service.requests), service.connections), (3, 3))
            # The request was already sent: it may be sent again.
            with FakeService(plans, _close, plans) as service:
                self.assertEqual(ask(service, 2), [[]] * 2)
                self.assertEqual((len(service.requests), service.connections), (3, 2))
            # A new connection that is closed is a failure.
            with FakeService(_close) as service:
                with self.assertRaises(UnavailableError):
                    ask(service, 1)
                self.assertEqual(len(service.requests), 1)

        self._on_both(check)

    def test_does_not_take_what_nobody_asked_for_as_an_answer(self) -> None:
        read, sent = threading.Event(), threading.Event()

        def answer_twice(handler: BaseHTTPRequestHandler) -> None:
            plans(handler)
            read.wait()
            content = json.dumps({"plans": ANSWERS["listPlans"]["plans"]}).encode()
            length = str(len(content)).encode()
            handler.wfile.write(
                _HEAD + b"Content-Length: " + length + b"\r\n\r\n" + content
            )
            sent.set()

        def ask(service: FakeService) -> list[Any]:
            with service.client(max_retries=0) as retention:
                first = retention.list_plans()
                read.set()
                sent.wait()
                return [first, retention.list_plans()]

        async def ask_async(retention: AsyncRetention) -> list[Any]:
            first = await retention.list_plans()
            read.set()
            await asyncio.to_thread(sent.wait)
            return [first, await retention.list_plans()]

        with FakeService(answer_twice, plans) as service:
            self.assertEqual(ask(service), [[], []])
            self.assertEqual(service.connections, 2)
        read.clear()
        sent.clear()
        with FakeService(answer_twice, plans) as service:
            client = service.async_client(max_retries=0)
            self.assertEqual(in_loop(client, ask_async), [[], []])
            self.assertEqual(service.connections, 2)

    def test_gives_each_thread_and_task_its_own_answer(self) -> None:
        def echo(handler: BaseHTTPRequestHandler) -> None:
            customer = int(handler.path.partition("=")[2])
            answer_json({"subscriptions": [{**ENTRY, "planId": customer}]})(handler)

        customers = range(1, 201)
        # As many as may be idle at once: none is closed that would have to be opened again.
        threads = 16
        with FakeService(echo) as service:
            with service.client() as retention, ThreadPoolExecutor(threads) as pool:
                found = pool.map(retention.get_entitlements, customers)
                self.assertEqual([each[0]["planId"] for each in found], list(customers))
            self.assertLessEqual(service.connections, threads)

            async def ask(retention: AsyncRetention) -> list[int]:
                found = await asyncio.gather(
                    *map(retention.get_entitlements, customers[:50])
                )
                again = await asyncio.gather(
                    *map(retention.get_entitlements, customers[50:])
                )
                return [each[0]["planId"] for each in found + again]

            asked = in_loop(service.async_client(), ask)
            self.assertEqual(asked, list(customers))

    @unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
    def test_leaves_its_connection_to_the_process_that_opened_it(self) -> None:
        with FakeService(plans) as service:
            retention = service.client(max_retries=0)
            retention.list_plans()
            child = os.fork()
            if child == 0:
                try:
                    os._exit(0 if retention.list_plans() == [] else 1)
                finally:
                    os._exit(2)
            _, status = os.waitpid(child, 0)
            self.assertEqual(status, 0)
            retention.list_plans()
            self.assertEqual((len(service.requests), service.connections), (3, 2))
            retention.close()

    def test_uses_no_connection_of_an_event_loop_that_has_ended(self) -> None:
        async def ask(retention: AsyncRetention) -> list[Any]:
            return list(await retention.list_plans())

        with FakeService(plans) as service:
            client = service.async_client(max_retries=0)
            self.assertEqual(in_loop(client, ask), [])
            self.assertEqual(in_loop(client, ask), [])
            self.assertEqual(service.connections, 2)


class FramingTest(unittest.TestCase):
    def _read(self, content: bytes, step: int) -> tuple[bool, bool, bytes]:
        framing = Framing()
        for start in range(0, len(content), step):
            if framing.is_whole:
                break
            framing.feed(content[start : start + step])
        return framing.is_whole, framing.keeps_open, framing.content

    def test_finds_the_end_of_an_answer_however_it_arrives(self) -> None:
        length = _HEAD + b"Content-Length: 3\r\n\r\nabc"
        chunked = (
            _HEAD
            + b"Transfer-Encoding: chunked\r\n\r\n2;x=1\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        )
        trailers = chunked[:-2] + b"Digest: 1\r\n\r\n"
        empty = b"HTTP/1.1 204 No Content\r\n\r\n"
        interim = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 3000
        for answer in (length, chunked, trailers, empty):
            for step in (1, 2, 7, len(answer)):
                with self.subTest(answer, step=step):
                    self.assertEqual(self._read(answer, step), (True, True, answer))
            # Nothing less is whole.
            for end in range(len(answer)):
                self.assertFalse(self._read(answer[:end], 1)[0])
        whole = self._read(interim + length, len(interim + length))
        self.assertEqual(whole, (True, True, length))

    def test_keeps_no_connection_that_leaves_a_doubt(self) -> None:
        for what, answer in {
            "more than was announced": _HEAD + b"Content-Length: 1\r\n\r\nab",
            "it says that it closes": _HEAD
            + b"Connection: x, close\r\nContent-Length: 1\r\n\r\na",
            "an old protocol": b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
            "no answer": b"SSH-2.0-OpenSSH\r\n\r\n",
            "a chunk without a length": _HEAD
            + b"Transfer-Encoding: chunked\r\n\r\nx\r\n",
        }.items():
            with self.subTest(what):
                self.assertEqual(self._read(answer, len(answer))[:2], (True, False))
        for what, fields in {
            "two lengths": b"Content-Length: 1\r\nContent-Length: 2\r\n",
            "a length and chunks": b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            "a length that is none": b"Content-Length: +1\r\n",
            "an unknown encoding": b"Transfer-Encoding: gzip, chunked\r\n",
            "nothing": b"",
        }.items():
            with self.subTest(what):
                framing = Framing()
                framing.feed(_HEAD + fields + b"\r\na")
                self.assertEqual((framing.is_whole, framing.keeps_open), (False, False))
                framing.end()
                self.assertTrue(framing.is_whole)


if __name__ == "__main__":
    unittest.main()
