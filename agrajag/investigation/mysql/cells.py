"""Makes a plain value of what the server writes for one cell.

Nothing is cut here: half a secret would not be recognised as one. What a date says is left as it is written, because
the server has dates that no calendar has.
"""

from pymysql.constants import FIELD_TYPE

Cell = str | int | float | bytes | None

_WHOLE = frozenset(
    {
        FIELD_TYPE.TINY,
        FIELD_TYPE.SHORT,
        FIELD_TYPE.INT24,
        FIELD_TYPE.LONG,
        FIELD_TYPE.LONGLONG,
        FIELD_TYPE.YEAR,
    }
)
_REAL = frozenset({FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE})
_EXACT = frozenset({FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL})
_MAX_DIGITS = 18
_MAX_HEX_BYTES = 32


def plain(written: str | bytes | None, kind: int) -> Cell:
    """The value of a cell; `kind` as in FIELD_TYPE.

    Exact numbers with a fraction stay text. Bytes that are text become it, few others their hex digits (`0x…`);
    many stay bytes, as do geometries.
    """
    if written is None:
        return None
    if isinstance(written, bytes):
        return int.from_bytes(written, "big") if kind == FIELD_TYPE.BIT else _told(written, kind)
    if kind in _WHOLE or (kind in _EXACT and written.lstrip("-").isdigit() and len(written) <= _MAX_DIGITS):
        return int(written)
    return float(written) if kind in _REAL else written


def _told(written: bytes, kind: int) -> str | bytes:
    if kind == FIELD_TYPE.GEOMETRY:
        return written
    try:
        text = written.decode()
    except UnicodeDecodeError:
        text = "\0"
    if all(char.isprintable() or char in "\t\r\n" for char in text):
        return text
    return f"0x{written.hex()}" if len(written) <= _MAX_HEX_BYTES else written
