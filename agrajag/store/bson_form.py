"""How a record stands in the store: the same fields and names, with BSON's own types.

Times are UTC dates cut to milliseconds, which is BSON's precision; every whole number is an Int64, so that a
counter has one type whatever its size; enums are their words and spans ISO 8601. A field without a value is null.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, TypeVar

from bson import Int64
from bson.codec_options import CodecOptions
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from agrajag.core.times import milliseconds
from agrajag.errors import InputError

AWARE: CodecOptions[dict[str, Any]] = CodecOptions(tz_aware=True, tzinfo=UTC)
"""How documents are read: dates as aware UTC datetimes."""

Record = TypeVar("Record", bound=BaseModel)


def to_bson(record: BaseModel) -> dict[str, Any]:
    """The record's fields under the names that they have as JSON.

    Raises InputError `out_of_range` for a time whose zone carries it out of the years 1 to 9999.
    """
    return {name: _value(value) for name, value in record.model_dump(by_alias=True).items()}


def from_bson(record_type: type[Record], document: Mapping[str, Any]) -> Record:
    """The record that `to_bson` was given, times cut to milliseconds.

    Fields that are not the record's are ignored. Raises InputError `unreadable` for a document that somebody else
    has written.
    """
    try:
        # BSON has neither tuples nor enums, and the store adds fields of its own.
        return record_type.model_validate(document, strict=False, extra="ignore")
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise InputError(
            "unreadable", f"{document.get('_id')!r} is no {record_type.__name__}: {place}"
        ) from error


def _value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, datetime):
        return _date(value)
    if isinstance(value, timedelta):
        return to_jsonable_python(value)
    if isinstance(value, int):
        return Int64(value)
    if isinstance(value, dict):
        return {name: _value(inner) for name, inner in value.items()}
    return [_value(inner) for inner in value]


def _date(moment: datetime) -> datetime:
    try:
        return milliseconds(moment)
    except OverflowError as error:
        raise InputError("out_of_range", f"the time {moment.isoformat()} has no date in UTC") from error
