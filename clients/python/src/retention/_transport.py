"""Sends requests, on connections that stay open. A time limit is for all of an exchange:
looking up the name, connecting, and the whole answer."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import ssl
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ._attempts import Answered, Reply, Send, Steps, Wait
from ._framing import Framing
from ._settings import Settings

_CHUNK_BYTES = 65_536
_MAX_IDLE_CONNECTIONS = 16
# Servers and the proxies before them keep idle connections for longer.
_MAX_IDLE_SECONDS = 30

Connection = TypeVar("Connection")


@dataclass(frozen=True)
class _Idle(Generic[Connection]):
    connection: Connection
    since: float
    owner: object


class Pool(Generic[Connection]):
    """Idle connections, the last one used first. Threads may share it: each step is one
    step of a deque. A process that was forked leaves its parent's connections alone, and
    an event loop those of another one.
    """

    def __init__(
        self,
        close: Callable[[Connection], None],
        is_usable: Callable[[Connection], bool],
        owner: Callable[[], object],
    ) -> None:
        self._idle: deque[_Idle[Connection]] = deque()
        self._close = close
        self._is_usable = is_usable
        self._owner = owner
        weakref.finalize(self, _close_all, self._idle, close, owner)

    def take(self) -> Connection | None:
        while True:
            try:
                idle = self._idle.pop()
            except IndexError:
                return None
            if idle.owner != self._owner():
                continue
            is_young = time.monotonic() - idle.since < _MAX_IDLE_SECONDS
            if is_young and self._is_usable(idle.connection):
                return idle.connection
            self._close(idle.connection)

    def give_back(self, connection: Connection) -> None:
        if len(self._idle) < _MAX_IDLE_CONNECTIONS:
            self._idle.append(_Idle(connection, time.monotonic(), self._owner()))
        else:
            self._close(connection)

    def close(self) -> None:
        _close_all(self._idle, self._close, self._owner)


def _close_all(
    idle: deque[_Idle[Any]], close: Callable[[Any], None], owner: Callable[[], object]
) -> None:
    while idle:
        each = idle.pop()
        if each.owner == owner():
            close(each.connection)


def run(steps: Steps, pool: Pool[socket.socket]) -> Answered:
    """Does what the steps say."""
    reply: Reply = None
    while True:
        try:
            step = steps.send(reply)
        except StopIteration as end:
            answered: Answered = end.value
            return answered
        if isinstance(step, Wait):
            time.sleep(step.seconds)
            reply = None
        else:
            reply = exchange(step, pool)


async def run_async(steps: Steps, pool: Pool[AsyncConnection]) -> Answered:
    """The same for asyncio."""
    reply: Reply = None
    while True:
        try:
            step = steps.send(reply)
        except StopIteration as end:
            answered: Answered = end.value
            return answered
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            reply = None
        else:
            reply = await exchange_async(step, pool)


def open_pool() -> Pool[socket.socket]:
    return Pool(lambda each: each.close(), _is_silent, os.getpid)


def exchange(request: Send, pool: Pool[socket.socket]) -> Reply:
    """The bytes of the answer, or why there is none."""
    deadline = time.monotonic() + request.timeout_seconds
    try:
        kept = pool.take()
        if kept is not None:
            try:
                reply = _ask(kept, request, deadline, pool)
                if reply:
                    return reply
            except (ConnectionError, ssl.SSLError):
                # It was closed meanwhile. What asks for data may be sent again.
                pass
        return _ask(_connect(request.settings, deadline), request, deadline, pool)
    except OSError as error:
        return error


def _ask(
    connection: socket.socket, request: Send, deadline: float, pool: Pool[socket.socket]
) -> bytes:
    answer = Framing()
    try:
        # A time limit of a socket is for each of its steps.
        connection.settimeout(_rest(deadline))
        connection.sendall(request.content)
        while not answer.is_whole:
            connection.settimeout(_rest(deadline))
            chunk = connection.recv(_CHUNK_BYTES)
            if chunk:
                answer.feed(chunk)
            else:
                answer.end()
    except BaseException:
        connection.close()
        raise
    if answer.keeps_open:
        pool.give_back(connection)
    else:
        connection.close()
    return answer.content


def _connect(settings: Settings, deadline: float) -> socket.socket:
    host, port = _place(settings)
    connection = socket.create_connection((host, port), timeout=_rest(deadline))
    if settings.ssl_context is None:
        return connection
    try:
        connection.settimeout(_rest(deadline))
        return settings.ssl_context.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


def _is_silent(connection: socket.socket) -> bool:
    """Whether it is open, and nothing came that nobody asked for."""
    if isinstance(connection, ssl.SSLSocket) and connection.pending():
        return False
    if sys.platform == "win32":
        return not select.select([connection], [], [], 0)[0]
    # Unlike select(), for any number of open files.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return not poll.poll(0)


def _rest(deadline: float) -> float:
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise TimeoutError
    return rest


class AsyncConnection(asyncio.Protocol):
    """A connection of an event loop, with one request at a time."""

    def __init__(self) -> None:
        self.is_open = False
        self._transport: asyncio.Transport | None = None
        self._answer: Framing | None = None
        self._ended: asyncio.Future[None] | None = None
        self._failure: Exception | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            # Nobody asked.
            self.close()
            return
        self._answer.feed(data)
        if self._answer.is_whole:
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._failure = exc
        if self._answer is not None:
            self._answer.end()
            self._finish()

    async def ask(self, content: bytes) -> Framing:
        """What was answered until the answer or the connection ended.

        :raises OSError: if nothing was
        """
        assert self._transport is not None
        answer = self._answer = Framing()
        self._ended = asyncio.get_running_loop().create_future()
        try:
            self._transport.write(content)
            await self._ended
            if self._failure is not None and not answer.content:
                raise self._failure
            return answer
        finally:
            self._answer = None
            if not answer.keeps_open or not answer.is_whole:
                self.close()

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            try:
                self._transport.abort()
            except RuntimeError:
                # The event loop has ended before.
                pass

    def _finish(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)


def open_async_pool() -> Pool[AsyncConnection]:
    return Pool(AsyncConnection.close, lambda each: each.is_open, _loop_of_process)


def _loop_of_process() -> object:
    try:
        return os.getpid(), asyncio.get_running_loop()
    except RuntimeError:
        return None


async def exchange_async(request: Send, pool: Pool[AsyncConnection]) -> Reply:
    """The same for asyncio."""
    try:
        return await asyncio.wait_for(
            _exchange_async(request, pool), request.timeout_seconds
        )
    # Python before 3.11 has two kinds.
    except asyncio.TimeoutError:
        return TimeoutError()
    except OSError as error:
        return error


async def _exchange_async(request: Send, pool: Pool[AsyncConnection]) -> bytes:
    kept = pool.take()
    if kept is not None:
        try:
            answer = await kept.ask(request.content)
            if answer.content:
                return _give_back(kept, answer, pool)
        except OSError:
            # It was closed meanwhile. What asks for data may be sent again.
            pass
    settings = request.settings
    host, port = _place(settings)
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(
        AsyncConnection, host, port, ssl=settings.ssl_context
    )
    return _give_back(connection, await connection.ask(request.content), pool)


def _give_back(
    connection: AsyncConnection, answer: Framing, pool: Pool[AsyncConnection]
) -> bytes:
    if connection.is_open and answer.keeps_open:
        pool.give_back(connection)
    return answer.content


def _place(settings: Settings) -> tuple[str, int]:
    address = settings.address
    port = address.port or (443 if address.scheme == "https" else 80)
    return address.hostname or "", port
