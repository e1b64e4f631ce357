"""Sends requests, each on a connection of its own. A time limit is for all of it: looking
up the name, connecting, and the whole answer."""

from __future__ import annotations

import asyncio
import socket
import time

from ._attempts import Answered, Reply, Send, Steps, Wait
from ._settings import Settings

_CHUNK_BYTES = 65_536


def run(steps: Steps) -> Answered:
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
            reply = exchange(step)


async def run_async(steps: Steps) -> Answered:
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
            reply = await exchange_async(step)


def exchange(request: Send) -> Reply:
    """The bytes of the answer, or why there is none."""
    settings = request.settings
    deadline = time.monotonic() + request.timeout_seconds
    try:
        with _connect(settings, deadline) as connection:
            connection.sendall(request.content)
            chunks: list[bytes] = []
            while True:
                # A time limit of a socket is for each of its steps.
                connection.settimeout(_rest(deadline))
                chunk = connection.recv(_CHUNK_BYTES)
                if not chunk:
                    return b"".join(chunks)
                chunks.append(chunk)
    except OSError as error:
        return error


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


def _rest(deadline: float) -> float:
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise TimeoutError
    return rest


async def exchange_async(request: Send) -> Reply:
    """The same for asyncio."""
    try:
        return await asyncio.wait_for(_exchange_async(request), request.timeout_seconds)
    # Python before 3.11 has two kinds.
    except asyncio.TimeoutError:
        return TimeoutError()
    except OSError as error:
        return error


async def _exchange_async(request: Send) -> bytes:
    settings = request.settings
    host, port = _place(settings)
    reader, writer = await asyncio.open_connection(host, port, ssl=settings.ssl_context)
    try:
        writer.write(request.content)
        return await reader.read()
    finally:
        writer.transport.abort()


def _place(settings: Settings) -> tuple[str, int]:
    address = settings.address
    port = address.port or (443 if address.scheme == "https" else 80)
    return address.hostname or "", port
