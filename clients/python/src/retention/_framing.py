"""Where an answer ends on a connection that stays open."""

from __future__ import annotations

import re
from collections.abc import Iterable

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) (\d{3})")


class Framing:
    """Collects the bytes of one answer. A connection whose answer leaves any doubt is not
    used again: the next answer might be another customer's.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._body_at: int | None = None
        self._is_chunked = False
        # Where the body ends, or the next chunk begins; None for the connection's end.
        self._next_at: int | None = None
        self.is_whole = False
        self.keeps_open = False

    @property
    def content(self) -> bytes:
        return bytes(self._bytes)

    def feed(self, more: bytes) -> None:
        self._bytes += more
        try:
            while self._body_at is None:
                if not self._read_head():
                    return
            if self._is_chunked:
                self._walk_chunks()
        except ValueError:
            # Who parses it says what is wrong.
            self._next_at = None
            self.end()
        if not self.is_whole and not self._is_chunked and self._next_at is not None:
            self._end_at(self._next_at)

    def end(self) -> None:
        """The connection has ended, or cannot be understood any more."""
        self.is_whole = True
        self.keeps_open = False

    def _read_head(self) -> bool:
        """:returns: whether a head was there, interim ones included
        :raises ValueError: if it is no head of an answer"""
        end = self._bytes.find(b"\r\n\r\n")
        if end < 0:
            return False
        status_line, *lines = bytes(self._bytes[:end]).split(b"\r\n")
        match = _STATUS_LINE.match(status_line)
        if match is None:
            raise ValueError
        status = int(match[2])
        if 100 <= status < 200:
            # An interim answer; the one that counts follows.
            del self._bytes[: end + 4]
            return True
        self._body_at = end + 4
        fields = [line.lower().partition(b":") for line in lines]
        self._judge(
            status,
            is_recent=match[1] == b"1",
            encodings=_values(fields, b"transfer-encoding"),
            lengths=_values(fields, b"content-length"),
            options=b",".join(_values(fields, b"connection")),
        )
        return True

    def _judge(
        self,
        status: int,
        *,
        is_recent: bool,
        encodings: list[bytes],
        lengths: list[bytes],
        options: bytes,
    ) -> None:
        assert self._body_at is not None
        closes = b"close" in [each.strip() for each in options.split(b",")]
        self.keeps_open = is_recent and not closes
        if status in (204, 304):
            self._next_at = self._body_at
        elif encodings == [b"chunked"] and not lengths:
            self._is_chunked = True
            self._next_at = self._body_at
        elif not encodings and len(lengths) == 1 and re.fullmatch(rb"\d{1,15}", lengths[0]):
            self._next_at = self._body_at + int(lengths[0])
        else:
            self.keeps_open = False

    def _walk_chunks(self) -> None:
        """:raises ValueError: if a chunk has no length"""
        assert self._next_at is not None
        while not self.is_whole:
            line_end = self._bytes.find(b"\r\n", self._next_at)
            if line_end < 0:
                return
            size = self._bytes[self._next_at : line_end].partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9a-fA-F]{1,15}", size):
                raise ValueError
            if int(size, 16) > 0:
                self._next_at = line_end + 2 + int(size, 16) + 2
                continue
            # The last chunk; trailers may follow it, up to an empty line.
            end = self._bytes.find(b"\r\n\r\n", line_end)
            if end < 0:
                return
            self._end_at(end + 4)

    def _end_at(self, end: int) -> None:
        if len(self._bytes) < end:
            return
        self.is_whole = True
        if len(self._bytes) > end:
            # Nobody asked for what follows.
            self.keeps_open = False
            del self._bytes[end:]


def _values(fields: Iterable[tuple[bytes, bytes, bytes]], name: bytes) -> list[bytes]:
    return [value.strip() for key, _, value in fields if key == name]
