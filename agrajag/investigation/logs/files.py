"""Reads files of lines in pieces: from the end where a file grows there, from the beginning where it is packed.

A log grows at its end, so its lines stand in the order of their times, give or take DISORDER. Nothing rests on a single
line, whose time may be wrong: of the order, what is believed is what a whole piece says.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import IO, TypeAlias

from agrajag.investigation.folder import FolderFile, opened
from agrajag.investigation.off_loop import Reading

DISORDER = timedelta(minutes=5)
"""How far lines of one file may be out of order, and the clocks of its writer and of its disk apart."""

_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

RawLine: TypeAlias = tuple[int, bytes]
"""Where a line begins, and what it is, without its end."""


def well_before(at: datetime) -> datetime:
    """A time before which nothing can stand in a file that is not read on, where `at` still matters."""
    return at - DISORDER if at - _FIRST > DISORDER else _FIRST


def well_after(at: datetime) -> datetime:
    """A time after which nothing can stand in a file that is not read on, where `at` still matters."""
    return at + DISORDER if _LAST - at > DISORDER else _LAST


@dataclass
class Allowance:
    """How many bytes may still be read, and until when."""

    reading: Reading
    left_bytes: int
    is_spent: bool = False
    """Something was not read for want of bytes or time."""

    def permits(self, size_bytes: int) -> bool:
        """Take so many bytes from what is left; False, from then on, where there are not as many, or no time."""
        if self.is_spent or self.reading.is_over or size_bytes > self.left_bytes:
            self.is_spent = True
            return False
        self.left_bytes -= size_bytes
        return True


@dataclass(frozen=True, slots=True)
class PieceSizes:
    """How much is read at once, how much to see what a place of a file holds, and how long a line may be; in bytes."""

    piece: int = 256 * 1024
    probe: int = 16 * 1024
    line: int = 256 * 1024


class LogFile:
    """One file, read as far as the allowance goes. All of it may raise OSError."""

    def __init__(self, file: FolderFile, is_packed: bool, allowance: Allowance, sizes: PieceSizes) -> None:
        self.too_long = 0
        """Lines that were longer than a line may be, and were passed over."""
        self._size = file.stamp.size_bytes
        self._is_packed = is_packed
        self._allowance = allowance
        self._sizes = sizes
        self._reader = opened(file)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def head(self) -> list[RawLine]:
        """The first lines."""
        probe = self._sizes.probe
        if self._is_packed:
            return next(self._unpacked(probe), [])
        if not self._allowance.permits(min(probe, self._size)):
            return []
        return self._lines(_whole_lines(self._at(0, probe), probe), 0)

    def pieces(self, is_too_new: Callable[[list[RawLine]], bool]) -> Iterator[list[RawLine]]:
        """The lines, a piece at a time, within a piece in their order.

        The last piece comes first and the end is left out as far as pieces are too new; of a packed file, the first
        piece comes first, and none is left out.
        """
        return self._unpacked(self._sizes.piece) if self._is_packed else self._backwards(is_too_new)

    def _backwards(self, is_too_new: Callable[[list[RawLine]], bool]) -> Iterator[list[RawLine]]:
        end = self._end(is_too_new)
        rest: bytes | None = b""  # the end of a line that begins before `end`; None: of one that is too long
        while end > 0 and self._allowance.permits(min(self._sizes.piece, end)):
            begin = max(end - self._sizes.piece, 0)
            piece = self._at(begin, end - begin)
            cut = 0 if begin == 0 else piece.find(b"\n") + 1
            is_within_a_line = begin > 0 and cut == 0
            if is_within_a_line:
                rest = None if rest is None else piece + rest
                if rest is not None and len(rest) > self._sizes.line:
                    self.too_long += 1
                    rest = None
            else:
                body = piece[cut:]
                yield self._lines(body + rest if rest is not None else _without_last(body), begin + cut)
                rest = piece[:cut]
            end = begin

    def _end(self, is_too_new: Callable[[list[RawLine]], bool]) -> int:
        """Where a line begins from which on all are too new; else the end of the file."""
        low, high, probe = 0, self._size, self._sizes.probe
        while high - low > self._sizes.piece:
            middle = (low + high) // 2
            if not self._allowance.permits(probe):
                break
            lines = _whole_lines(self._at(middle, probe), probe)
            first = lines.find(b"\n") + 1
            is_new = 0 < first < len(lines) and is_too_new(self._lines(lines[first:], middle + first))
            if is_new and middle + first < high:
                high = middle + first
            else:
                low = middle
        return high

    def _unpacked(self, piece_bytes: int) -> Iterator[list[RawLine]]:
        rest: bytes | None = b""  # the beginning of a line; None: of one that is too long
        begin = 0
        with gzip.GzipFile(mode="rb", fileobj=_Metered(self._reader, self._allowance)) as packed:
            while piece := self._piece(packed, piece_bytes):
                if rest is None:
                    cut = piece.find(b"\n") + 1 or len(piece)
                    begin += cut
                    rest, piece = (b"" if piece[cut - 1 : cut] == b"\n" else None), piece[cut:]
                if rest is None:
                    continue
                piece = rest + piece
                cut = piece.rfind(b"\n") + 1
                yield self._lines(piece[:cut], begin)
                begin += cut
                rest = piece[cut:]
                if len(rest) > self._sizes.line:
                    self.too_long += 1
                    begin += len(rest)
                    rest = None
        if rest:
            yield self._lines(rest, begin)

    def _piece(self, packed: gzip.GzipFile, piece_bytes: int) -> bytes:
        if not self._allowance.permits(piece_bytes):
            return b""
        try:
            return packed.read(piece_bytes)
        except (EOFError, zlib.error):
            raise OSError("not packed as it should be") from None

    def _at(self, place: int, size_bytes: int) -> bytes:
        self._reader.seek(place)
        return self._reader.read(size_bytes) or b""

    def _lines(self, body: bytes, begin: int) -> list[RawLine]:
        found: list[RawLine] = []
        for line in body.split(b"\n"):
            if len(line) > self._sizes.line:
                self.too_long += 1
            elif line and not line.isspace():
                found.append((begin, line))
            begin += len(line) + 1
        return found


class _Metered:
    """What `gzip` reads from: a packed file may hold very little in very many parts, and is bounded as it is read."""

    def __init__(self, reader: IO[bytes], allowance: Allowance) -> None:
        self._reader = reader
        self._allowance = allowance

    def read(self, size_bytes: int) -> bytes:
        return self._reader.read(size_bytes) if self._allowance.permits(0) else b""

    def seek(self, place: int) -> int:
        return self._reader.seek(place)


def _whole_lines(probe: bytes, asked_bytes: int) -> bytes:
    """A probe without its last line, if that may go on; what is shorter than asked for ends with the file."""
    return _without_last(probe) if len(probe) == asked_bytes else probe


def _without_last(lines: bytes) -> bytes:
    return lines[: lines.rfind(b"\n") + 1]
