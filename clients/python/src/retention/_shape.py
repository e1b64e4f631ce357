"""The one check of what the service answers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any, Union

# What an answer, or a part of it, must be: a value (one of the kinds below, or that "or
# null"), a list, or an object with at least these fields.
Shape = Union[str, list[Any], dict[str, Any]]


def read_time(text: str) -> float:
    """Epoch seconds of a time such as 2026-11-23T15:00:00.000Z."""
    # Python before 3.11 does not read the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _is_time(value: object) -> bool:
    pattern = r"(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z"
    if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
        return False
    try:
        read_time(value)
    except ValueError:
        return False
    return True


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= sys.float_info.max


_KINDS: dict[str, Callable[[Any], bool]] = {
    "a whole number": lambda value: (
        _is_number(value) and value % 1 == 0 and abs(value) < 2**53
    ),
    "a number": _is_number,
    "a text": lambda value: isinstance(value, str),
    "a boolean": lambda value: isinstance(value, bool),
    "a time": _is_time,
}


def fault_of(status: int, body: object, shape: Shape) -> str | None:
    """Why an answer cannot be relied on, as far as the client and its types do; None if
    it can."""
    if status != 200:
        return f"its status is {status} instead of 200"
    if isinstance(body, dict) and body.get("success") is False:
        return "it says that it is none"
    return _misfit(body, shape, "")


def _misfit(value: Any, shape: Shape, place: str) -> str | None:
    name = place or "it"
    parts: list[tuple[Any, Shape, str]]
    if isinstance(shape, str):
        kind = shape.removesuffix(" or null")
        if _KINDS[kind](value) or (value is None and kind != shape):
            return None
        return f"{name} must be {shape}"
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{name} must be a list"
        parts = [
            (each, shape[0], f"{place}[{index}]") for index, each in enumerate(value)
        ]
    else:
        if not isinstance(value, dict):
            return f"{name} must be an object"
        prefix = f"{place}." if place else ""
        # What is missing is of no kind.
        parts = [
            (value.get(field, ...), inner, prefix + field)
            for field, inner in shape.items()
        ]
    for part, inner, at in parts:
        fault = _misfit(part, inner, at)
        if fault is not None:
            return fault
    return None
