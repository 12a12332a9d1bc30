"""Reads secrets from the files that variables name: `AGRAJAG_MONGO_URI_FILE` is where `AGRAJAG_MONGO_URI` stands.

So a secret need not be in an environment, where whoever may look at the process can read it.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

SUFFIX = "_FILE"
_MAX_BYTES = 65_536


class SecretFiles(NamedTuple):
    """The variables that name a file, the secrets that stand there, by their own names, and what is wrong."""

    variables: frozenset[str]
    secrets: Mapping[str, str]
    problems: tuple[str, ...]


def read_secret_files(given: Mapping[str, str], secrets: Collection[str]) -> SecretFiles:
    """What the files say that `given` names for some of `secrets`; blank space around a secret is none of it."""
    named = {name: given[name] for secret in secrets if (name := f"{secret}{SUFFIX}") in given}
    found: dict[str, str] = {}
    problems = []
    for name, path in named.items():
        if not path:  # counts as not set
            continue
        secret = name.removesuffix(SUFFIX)
        right = f"not set, as {secret} is" if given.get(secret) else _read(path, found, secret)
        if right is not None:
            problems.append(f"{name}={path!r}: should be {right}")
    return SecretFiles(frozenset(named), found, tuple(problems))


def _read(path: str, found: dict[str, str], secret: str) -> str | None:
    """Puts what stands at `path` into `found`; what would be right where nothing usable does."""
    try:
        with Path(path).open("rb") as stream:
            text = stream.read(_MAX_BYTES).decode().strip()
    except (OSError, ValueError):
        return "the path of a readable file"
    if not text:
        return "the path of a file that is not empty"
    found[secret] = text
    return None
