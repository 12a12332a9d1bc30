"""What all records share: frozen, strict, camelCase on the wire, bounded in every field.

Unknown fields are ignored on input, so that a newer producer can talk to an older worker. Types are not coerced: a
number where text belongs is a bad record. Bounds live in the field types below, so that a record which validates can
be stored, logged by id and sent to any topic without another check.
"""

from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

MAX_ID = 256
MAX_NOTE = 500
MAX_CAUSE = 200
MAX_MESSAGE = 8_192
MAX_BODY = 65_536

VISIBLE = r"^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$"
"""What ids are made of: nothing that acts on a terminal, turns the reading direction, or makes two ids look alike.

Refused are the control characters of both blocks, all format characters (bidirectional controls, joiners, zero-width
spaces, tags) and the separators of lines and paragraphs."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID, pattern=VISIBLE)]
"""An identifier: 1 to 256 visible characters; in a record key its `%` and `|` are escaped."""

ScopeId = Annotated[str, StringConstraints(max_length=MAX_ID, pattern=VISIBLE)]
"""Which session, user, project or tenant; empty for GLOBAL."""

Signature = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=VISIBLE)]
"""An `errorSignature`: short, stable and descriptive (spec agrajag §4.2)."""

Note = Annotated[str, StringConstraints(max_length=MAX_NOTE)]
"""An audit note for people, at most 500 characters (spec agrajag §10)."""

Cause = Annotated[str, StringConstraints(max_length=MAX_CAUSE)]
"""Why a connection came or went, in the words of its layer, at most 200 characters."""

Count = Annotated[int, Field(ge=0, le=2**53)]
"""A counter that every JSON reader holds exactly."""

Time = AwareDatetime
"""An instant; a time without a zone is refused."""

Duration = Annotated[timedelta, Field(ge=timedelta(0), le=timedelta(days=366))]
"""A span, ISO 8601 on the wire (`PT5M`)."""


class WireModel(BaseModel):
    """A frozen record: JSON in camelCase, Python in snake_case.

    Python code may construct it by either name; `from_json` knows a field by its camelCase name only.
    """

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        ser_json_timedelta="iso8601",
        allow_inf_nan=False,
    )

    @classmethod
    def from_json(cls, value: bytes) -> Self:
        """The record that this UTF-8 JSON holds; raises pydantic's ValidationError if it holds none."""
        record: Self = cls.__pydantic_validator__.validate_json(value, by_alias=True, by_name=False)
        return record

    def to_json(self) -> bytes:
        """The record as UTF-8 JSON, fields in the order of the class; a field without a value is left out."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=True)

    def with_changes(self, **changes: Any) -> Self:
        """A copy with some fields replaced. The values are trusted: they come from our own decisions."""
        return self.model_copy(update=changes)
