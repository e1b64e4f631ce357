"""A service on a free port that gives one prepared answer after the other."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, TypeVar

from retention import AsyncRetention, Retention
from retention._shapes import SHAPES

Answer = Callable[[BaseHTTPRequestHandler], None]
Result = TypeVar("Result")


def answer_json(
    body: object, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        content = json.dumps(body).encode()
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def _close(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def _never_answer(handler: BaseHTTPRequestHandler) -> None:
    # Until the client gives up.
    handler.rfile.read()


def _announce_more(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"plans":[')
    handler.close_connection = True


def _trickle(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    # Until the client gives up.
    while True:
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.02)


def _page(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(502)
    handler.end_headers()
    handler.wfile.write(b"<h1>Bad gateway</h1>")
    handler.close_connection = True


def _half(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b'{"plans":[')
    handler.close_connection = True


SILENCES: dict[str, Answer] = {
    "never answers": _never_answer,
    "sends a byte now and then": _trickle,
}

TROUBLES: dict[str, Answer] = {
    **SILENCES,
    "closes the connection": _close,
    "announces more than it sends": _announce_more,
    "sends half of the JSON": _half,
    "sends a page of a proxy": _page,
    "sends JSON of something else": answer_json({"status": "ok"}),
    "answers 500": answer_json(
        {"success": False, "message": "Internal server error."}, 500
    ),
}


class FakeService:
    """Its last answer is given from then on."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            # Connections stay open.
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                number = min(len(requests), len(answers) - 1)
                headers = {name.lower(): value for name, value in self.headers.items()}
                requests.append((self.path, headers))
                try:
                    answers[number](self)
                except OSError:
                    pass

            def log_message(self, format: str, *args: Any) -> None:
                pass

        service = self
        self.connections = 0

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def process_request(self, *connection: Any) -> None:
                service.connections += 1
                super().process_request(*connection)

            # Connections that may wait to be accepted.
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FakeService:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def client(self, **options: Any) -> Retention:
        return Retention(**self._options(options))

    def async_client(self, **options: Any) -> AsyncRetention:
        return AsyncRetention(**self._options(options))

    def _options(self, given: dict[str, Any]) -> dict[str, Any]:
        return {
            "base_url": self.base_url,
            "key": "rtn_test",
            "timeout_seconds": 60,
            "deadline_seconds": math.inf,
            **given,
        }


def in_loop(
    client: AsyncRetention, work: Callable[[AsyncRetention], Awaitable[Result]]
) -> Result:
    """What a client did in an event loop of its own."""

    async def run() -> Result:
        async with client:
            return await work(client)

    return asyncio.run(run())


_VALUES: dict[str, Any] = {
    "a whole number": 12,
    "a number": 12.5,
    "a text": "active",
    "a boolean": True,
    "a time": "2026-11-23T15:00:00.000Z",
}


def _sample(shape: Any) -> Any:
    """A value of a shape; None where that is allowed."""
    if isinstance(shape, str):
        return _VALUES.get(shape)
    if isinstance(shape, list):
        return [_sample(each) for each in shape]
    return {name: _sample(inner) for name, inner in shape.items()}


# What the service answers.
ANSWERS: dict[str, Any] = {name: _sample(shape) for name, shape in SHAPES.items()}
[ENTRY] = ANSWERS["getEntitlements"]["subscriptions"]
[SUBSCRIPTION] = ANSWERS["listSubscriptions"]["subscriptions"]
[SESSION] = ANSWERS["listCancellations"]["cancellations"]
