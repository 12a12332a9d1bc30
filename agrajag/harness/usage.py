"""Decides what a reply has used and what that costs.

A count that is missing, negative or no whole number is 0 and makes the usage incomplete: some gateways send none, and
then only the number of calls bounds a run.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from agrajag.errors import ConfigError

LARGEST = 2**53
"""A larger count is read as this one: more than any budget, and still a number that metrics can hold."""

_MILLION = 1_000_000


class Usage(NamedTuple):
    """Tokens of one reply or of a whole run. The prompt is the sum of three: input, cache_write, cache_read."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0
    complete: bool = True

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.input + self.cache_write + self.cache_read

    @property
    def total(self) -> int:
        """All tokens, of prompt and answer."""
        return self.prompt + self.output

    def plus(self, other: "Usage") -> "Usage":
        """Both together; complete only if both are."""
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_write + other.cache_write,
            self.cache_read + other.cache_read,
            self.complete and other.complete,
        )


def usage_of(reported: object) -> Usage:
    """What the `usage` of a reply says, whatever it is. The counts of the cache may be absent."""
    needed = [_count(getattr(reported, name, None), None) for name in ("input_tokens", "output_tokens")]
    cached = [
        _count(getattr(reported, f"cache_{name}_input_tokens", None), 0) for name in ("creation", "read")
    ]
    prompt, output, written, read = (*needed, *cached)
    complete = None not in (prompt, output, written, read)
    return Usage(prompt or 0, output or 0, written or 0, read or 0, complete)


def _count(value: object, absent: int | None) -> int | None:
    """The count; `absent` where there is none, None where it is no count."""
    if value is None:
        return absent
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return min(value, LARGEST)


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens.

    Where a prompt has more than `long_prompt_tokens`, all tokens of that reply cost `long_prompt_factor` times as much.
    """

    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal
    long_prompt_tokens: int | None = None
    long_prompt_factor: Decimal = Decimal(1)

    def __post_init__(self) -> None:
        values = (self.input, self.output, self.cache_write, self.cache_read, self.long_prompt_factor)
        if not all(price.is_finite() and price >= 0 for price in values):
            raise ConfigError("model prices: must be finite and not negative")


def cost_usd(usage: Usage, prices: Prices) -> Decimal:
    """What one reply costs, in US dollars, unrounded."""
    per_million = (
        usage.input * prices.input
        + usage.output * prices.output
        + usage.cache_write * prices.cache_write
        + usage.cache_read * prices.cache_read
    )
    if prices.long_prompt_tokens is not None and usage.prompt > prices.long_prompt_tokens:
        per_million *= prices.long_prompt_factor
    return per_million / _MILLION
