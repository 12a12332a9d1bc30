"""The group of settings of the HTTP API: where it listens, who may ask, and what one request may cost."""

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from agrajag.addresses import is_loopback
from agrajag.setting_groups import Group
from agrajag.setting_types import IpAddress, Port, ReadableFile, Seconds, wrong


class ApiSettings(Group):
    """AGRAJAG_API_*."""

    host: IpAddress = Field(
        "127.0.0.1", description="IP address to listen on; one that others can reach needs tokens."
    )
    port: Port = Field(9_400, description="Port of the HTTP API; 0 for any free one.")
    tokens_file: ReadableFile | None = Field(
        None, description="Who may ask, by the hashes of tokens (YAML); a change is taken in."
    )
    tokens: Annotated[str, Field(max_length=65_536)] = Field(
        "", description="The same as text, besides or instead."
    )
    max_body_bytes: Annotated[int, Field(ge=10_000, le=100_000_000)] = Field(
        4_000_000, description="Longest body of a request."
    )
    request_seconds: Seconds = Field(20.0, description="Time in which a request must have arrived.")
    command_wait_seconds: Annotated[float, Field(gt=0, le=60)] = Field(
        10.0, description="How long a request waits for a worker to carry out its command."
    )
    recheck_wait_seconds: Annotated[float, Field(ge=0, le=60)] = Field(
        5.0, description="How long a recheck waits for its diagnosis before it is told where to look."
    )
    rechecks_per_minute: Annotated[int, Field(ge=1, le=10_000)] = Field(
        30,
        description="Rechecks of one tool that one user may ask for in a minute; of all tools ten times as many.",
    )
    connections: Annotated[int, Field(ge=10, le=100_000)] = Field(
        2_000, description="Connections at the same time; the next is told to come back."
    )
    streams: Annotated[int, Field(ge=1, le=100_000)] = Field(
        1_500, description="Of these, streams of changes."
    )
    stream_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        3_600.0, description="How long a stream of changes lasts before its client is told to come back."
    )
    stream_send_seconds: Annotated[float, Field(ge=1, le=3_600)] = Field(
        30.0, description="A stream ends where its client takes nothing for so long."
    )
    stream_memory_mib: Annotated[int, Field(ge=1, le=16_384)] = Field(
        64, description="Memory for the latest changes: what a client that comes back can be told."
    )
    heartbeat_seconds: Annotated[float, Field(ge=1, le=300)] = Field(
        15.0, description="Longest silence on a stream of changes."
    )

    @field_validator("tokens")
    @classmethod
    def _needed_for_others(cls, value: Any, info: ValidationInfo) -> Any:
        host = info.data.get("host", "127.0.0.1")
        # A file that was refused is told already.
        has_file = info.data.get("tokens_file", "refused") is not None
        if not (value or has_file or is_loopback(host)):
            raise wrong(f"set, or AGRAJAG_API_TOKENS_FILE, as AGRAJAG_API_HOST is {host}")
        return value
