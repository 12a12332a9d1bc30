"""The groups of settings of the diagnosis: which models are asked, and what a run may do and use."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from agrajag.core.day_limits import DayLimits
from agrajag.setting_groups import Group
from agrajag.setting_types import Directory, HttpAddress, Seconds, wrong

_MICRO = 1_000_000


def _model_names(value: str) -> str:
    names = [name.strip() for name in value.split(",")]
    if value and not all(names):
        raise wrong("names of models, separated by commas")
    return ",".join(names)


def _programs(value: str) -> str:
    programs = [program.strip() for program in value.split(",")] if value else []
    if not all(Path(program).is_absolute() for program in programs):
        raise wrong("absolute paths of programs, separated by commas")
    return ",".join(programs)


_Price = Annotated[Decimal, Field(ge=0, le=10_000)]
_DayLimit = Annotated[int, Field(ge=0, le=2**53)]


class ModelSettings(Group):
    """AGRAJAG_MODEL_*. Addresses, keys and prices stand here alone; documents may only choose among the names."""

    name: Annotated[str, Field(min_length=1, max_length=120)] = Field(
        "claude-haiku-5-5", description="The model that is asked where no document names another."
    )
    others: Annotated[str, AfterValidator(_model_names)] = Field(
        "",
        description="Further models that documents may name, separated by commas; no price is known of them.",
    )
    base_url: HttpAddress = Field(
        "https://api.anthropic.com", description="Where models are asked; any server of the same API."
    )
    api_key: SecretStr | None = Field(
        None, description="Key for the models; without one, rules alone diagnose."
    )
    request_seconds: Seconds = Field(60.0, description="How long one request to a model may take.")
    input_usd: _Price = Field(Decimal("0.10"), description="Price of a million tokens of the prompt.")
    output_usd: _Price = Field(Decimal("0.50"), description="Price of a million tokens of the answer.")
    cache_write_usd: _Price = Field(
        Decimal("0.125"), description="Price of a million tokens written to the prompt cache."
    )
    cache_read_usd: _Price = Field(
        Decimal("0.01"), description="Price of a million tokens read from the prompt cache."
    )
    long_prompt_tokens: Annotated[int, Field(ge=1)] | None = Field(
        100_000, description="Longer prompts cost more, by the factor."
    )
    long_prompt_factor: Annotated[Decimal, Field(ge=1, le=100)] = Field(
        Decimal(5), description="How many times as much a longer prompt costs."
    )

    @property
    def other_names(self) -> tuple[str, ...]:
        """The further models, by name."""
        return tuple(self.others.split(",")) if self.others else ()


class DiagnosisSettings(Group):
    """AGRAJAG_DIAGNOSIS_*."""

    concurrent_runs: Annotated[int, Field(ge=1, le=1_000)] = Field(
        20, description="Diagnoses that run side by side in one process, each of another project."
    )
    run_seconds: Seconds = Field(120.0, description="How long one diagnosis may take.")
    probe_seconds: Seconds = Field(15.0, description="How long one probe may take.")
    idle_seconds: Seconds = Field(300.0, description="Idle time after which a system session is suspended.")
    runs_per_day: _DayLimit | None = Field(
        None,
        description="Diagnoses of a tenant and day (UTC) after which no model is asked; empty for no limit.",
    )
    tokens_per_day: _DayLimit | None = Field(
        None, description="Tokens of a tenant and day after which no model is asked; empty for no limit."
    )
    usd_per_day: Annotated[Decimal, Field(ge=0, le=1_000_000)] | None = Field(
        None, description="US dollars of a tenant and day after which no model is asked; empty for no limit."
    )
    secrets_dir: Directory | None = Field(
        None, description="Credentials of probes in files: <dir>/<tenant>/<name>."
    )
    vault_dir: Directory | None = Field(
        None, description="Credentials of users in files: <dir>/<tenant>/<user>/<name>."
    )
    private_addresses: bool = Field(
        False, description="Let probes call loopback and private addresses; link-local ones are never called."
    )
    programs: Annotated[str, AfterValidator(_programs)] = Field(
        "", description="Programs that may be started as MCP servers: absolute paths, separated by commas."
    )

    @property
    def program_paths(self) -> tuple[str, ...]:
        """The programs that may be started."""
        return tuple(self.programs.split(",")) if self.programs else ()

    def day_limits(self) -> DayLimits:
        """What a tenant may use of a day, where its own settings say nothing else."""
        return DayLimits(
            self.runs_per_day,
            self.tokens_per_day,
            None if self.usd_per_day is None else int(self.usd_per_day * _MICRO),
        )
