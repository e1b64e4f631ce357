"""Asks a service what it is told to, one call after the other.

Usage: python -m tests.live sync|async, with the options as the first line of JSON on
standard input, and a call on each line after it. Answers with a line for each call.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
from typing import Any

from retention import AsyncRetention, CacheOptions, Retention, RetentionError


def _snake_case(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)


async def _collect(answer: Any) -> Any:
    """The answer, or all entries of a list."""
    if hasattr(answer, "__aiter__"):
        return [each async for each in answer]
    if inspect.isawaitable(answer):
        return await answer
    if hasattr(answer, "pages"):
        return list(answer)
    return answer


async def _call(client: Any, line: str) -> dict[str, Any]:
    method, given, named = json.loads(line)
    arguments = {_snake_case(name): value for name, value in named.items()}
    try:
        answer = getattr(client, _snake_case(method))(*given, **arguments)
        return {"value": await _collect(answer)}
    except RetentionError as error:
        name = type(error).__name__
        return {"error": name, "status": error.status, "message": str(error)}


async def main(kind: str) -> None:
    options = json.loads(sys.stdin.readline())
    options["cache"] = CacheOptions(**options["cache"])
    client = Retention(**options) if kind == "sync" else AsyncRetention(**options)
    for line in sys.stdin:
        print(json.dumps(await _call(client, line)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
