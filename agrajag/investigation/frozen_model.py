"""What all values of the investigation are: frozen, and with no field that nobody has named."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """JSON in snake case, as the specification has it. Types are never coerced where text is parsed as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
