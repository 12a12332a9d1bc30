"""Any value of any record: strategies drawn from the annotations of the records themselves."""

import types
import typing
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from functools import cache
from typing import Any

from annotated_types import Ge, Le, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import AwareDatetime, StringConstraints
from pydantic.fields import FieldInfo

from agrajag.model.wire_model import WireModel

_ZONES = st.sampled_from((UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-11, minutes=-30))))
_TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=_ZONES)  # noqa: DTZ001 - bounds are naive
_PLAIN = st.characters(exclude_categories=("C", "Zl", "Zp"))
_JSON = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(_PLAIN)
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {bool: st.booleans(), AwareDatetime: _TIMES, Any: _JSON}


def record_types() -> list[type[WireModel]]:
    """Every record and part of a record that travels or is stored."""
    records = (record for record in _subclasses(WireModel) if record.__module__.startswith("agrajag.model."))
    return sorted(records, key=lambda record: record.__name__)


def _subclasses(record: type[WireModel]) -> Iterator[type[WireModel]]:
    for subclass in record.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


@cache
def records(record: type[WireModel]) -> st.SearchStrategy[WireModel]:
    """Any valid value of this type, small rather than large."""
    fields = {name: _field(field) for name, field in record.model_fields.items()}
    return st.fixed_dictionaries(fields).map(lambda values: record(**values))


def _field(field: FieldInfo) -> st.SearchStrategy[Any]:
    return _value(field.annotation, list(_constraints(tuple(field.metadata))))


def _value(annotation: Any, metadata: list[Any]) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _value(arguments[0], [*metadata, *_constraints(arguments[1:])])
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(_value(argument, []) for argument in arguments))
    if annotation is types.NoneType:
        return st.none()
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(_value(arguments[0], []), min_size=_bound(metadata, MinLen, 0), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(_value(arguments[0], []), _value(arguments[1], []), max_size=2)
    return _scalar(annotation, metadata)


def _scalar(annotation: Any, metadata: list[Any]) -> st.SearchStrategy[Any]:
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if annotation is str:
        return _texts(metadata)
    if annotation is int:
        return st.integers(_bound(metadata, Ge, 0), _bound(metadata, Le, 2**53))
    if annotation is timedelta:
        return st.timedeltas(_bound(metadata, Ge, timedelta(0)), _bound(metadata, Le, timedelta(days=1)))
    if issubclass(annotation, Enum):
        return st.sampled_from(list(annotation))
    if issubclass(annotation, WireModel):
        return records(annotation)
    raise AssertionError(f"no strategy for {annotation!r}")


def _texts(metadata: list[Any]) -> st.SearchStrategy[str]:
    pattern = next((found.pattern for found in metadata if getattr(found, "pattern", None)), None)
    alphabet = st.sampled_from("aZ09_-") if pattern and "A-Za-z" in pattern else _PLAIN
    return st.text(alphabet, min_size=_bound(metadata, MinLen, 0), max_size=8)


def _constraints(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for found in metadata:
        if isinstance(found, FieldInfo):
            yield from found.metadata
        elif isinstance(found, StringConstraints):
            yield from found
            yield found
        else:
            yield found


def _bound(metadata: list[Any], kind: type[Any], otherwise: Any) -> Any:
    names = {Ge: "ge", Le: "le", MinLen: "min_length", MaxLen: "max_length"}
    return next((getattr(found, names[kind]) for found in metadata if isinstance(found, kind)), otherwise)
