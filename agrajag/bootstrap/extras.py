"""Turns a library that is not installed into the name of the extra that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from agrajag.errors import ConfigError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Turns a library that is not installed into the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("agrajag"):
            raise
        raise ConfigError(f"{error.name} is not installed; pip install 'agrajag[{name}]'") from error
