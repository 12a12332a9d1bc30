"""The settings of the internal investigation agent: what a run may use, and where evidence is looked for."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from agrajag.setting_groups import Group
from agrajag.setting_types import Directory, HttpAddress, ReadableFile, Seconds

_Bytes = Annotated[int, Field(ge=256, le=4 * 1024 * 1024)]
_Count = Annotated[int, Field(ge=1, le=1_000)]


class InvestigationSettings(Group):
    """AGRAJAG_INVESTIGATION_*. A source that is not set up is answered for with an error, and never left out."""

    query_bytes: _Bytes = Field(8_192, description="UTF-8 bytes that a question may have.")
    previous_turn_bytes: _Bytes = Field(16_384, description="UTF-8 bytes that the previous turn may have.")
    input_bytes: _Bytes = Field(32_768, description="UTF-8 bytes that both together may have, as JSON.")
    draft_bytes: _Bytes = Field(16_384, description="UTF-8 bytes that the answer may have.")
    run_text_bytes: _Bytes = Field(65_536, description="UTF-8 bytes of input and answer of a run together.")
    observation_bytes: _Bytes = Field(
        8_192, description="UTF-8 bytes that the model is shown of one tool call."
    )
    tool_attempts: _Count = Field(8, description="Tool calls of a run, those included that are sent back.")
    no_gains: _Count = Field(
        3, description="Observations in a row that bring nothing and end the collecting."
    )
    model_calls: _Count = Field(10, description="Rounds of the model; at least two more than tool calls.")
    tokens: Annotated[int, Field(ge=1, le=100_000_000)] = Field(
        150_000, description="Tokens of a run; at most one round goes beyond them."
    )
    reply_tokens: Annotated[int, Field(ge=1, le=128_000)] = Field(
        6_000, description="Tokens of one reply, with what the model thinks."
    )
    run_seconds: Seconds = Field(180.0, description="How long one investigation may take.")
    tool_seconds: Seconds = Field(15.0, description="How long one tool call may take.")
    structured_output: bool = Field(
        False, description="Also send the schema of the answer as its format; not every server knows it."
    )
    ledger: Literal["memory", "mongo"] = Field(
        "memory", description="Where tool calls are on record: for the run alone, or in the document store."
    )
    runbooks_dir: Directory | None = Field(None, description="Folder of runbooks in Markdown.")
    logs_dir: Directory | None = Field(None, description="Folder of logs, one JSON object a line.")
    logs_time_field: str = Field("", description="Field of a log line with its time; empty: the usual names.")
    logs_level_field: str = Field("", description="Field with its level.")
    logs_service_field: str = Field("", description="Field with its service.")
    logs_message_field: str = Field("", description="Field with its message.")
    loki_url: HttpAddress | None = Field(
        None, description="Loki to ask for logs, where there is no folder of them."
    )
    loki_user: str | None = Field(None, description="User for Loki, with the token as its password.")
    loki_token: SecretStr | None = Field(None, description="Token for Loki: as a bearer, without a user.")
    loki_tenant: str | None = Field(None, description="Tenant (X-Scope-OrgID) that Loki is asked for.")
    loki_service_label: str = Field(
        "service_name", description="Label of Loki's streams that says whose log it is."
    )
    mysql_host: str | None = Field(None, description="MySQL or MariaDB that may be read.")
    mysql_port: Annotated[int, Field(ge=1, le=65_535)] = Field(3306, description="Its port.")
    mysql_user: str = Field("", description="A user that may do nothing but SELECT.")
    mysql_password: SecretStr | None = Field(None, description="Password of that user.")
    mysql_database: str = Field("", description="The one schema that is read.")
    mysql_tables_file: ReadableFile | None = Field(
        None, description="YAML file of what may be read: a mapping of tables to lists of columns."
    )
    mysql_ca_file: ReadableFile | None = Field(
        None, description="Certificate authorities (PEM) for TLS to the database; without, no TLS."
    )
