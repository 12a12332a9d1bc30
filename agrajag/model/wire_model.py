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
MAX_MESSAGE = 8_192
MAX_BODY = 65_536

Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""An identifier: 1 to 256 characters, none of them a control character. Separators are escaped by `keys`."""

ScopeId = Annotated[str, StringConstraints(max_length=MAX_ID, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""An `Id`, or the empty string that stands for GLOBAL."""

Signature = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""An `errorSignature`: short, stable and descriptive (spec agrajag §4.2)."""

Note = Annotated[str, StringConstraints(max_length=MAX_NOTE)]
"""An audit note for people, at most 500 characters (spec agrajag §10)."""

Count = Annotated[int, Field(ge=0, le=2**53)]
"""A counter that every JSON reader holds exactly."""

Time = AwareDatetime
"""An instant; a time without a zone is refused."""

Duration = Annotated[timedelta, Field(ge=timedelta(0), le=timedelta(days=366))]
"""A span, ISO 8601 on the wire (`PT5M`)."""


class WireModel(BaseModel):
    """A frozen record: JSON in camelCase, Python in snake_case, both names accepted on construction."""

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

    def to_json(self) -> bytes:
        """The record as UTF-8 JSON, fields in the order of the class; a field without a value is left out."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=True)

    def with_changes(self, **changes: Any) -> Self:
        """A copy with some fields replaced. The values are trusted: they come from our own decisions."""
        return self.model_copy(update=changes)
