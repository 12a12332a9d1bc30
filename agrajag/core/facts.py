"""Finds, of all facts that a set of rules waits for, those that an error shows (`core.condition.Anchor`).

What finds them is made once for each set and kind. Apart from texts, which `core.match` looks for in one pass of its
own, each kind costs about the same however many facts are waited for.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias

import re2

from agrajag.core.body_patterns import BodyPattern, case_insensitive, of_lines
from agrajag.core.call_conditions import matching_any
from agrajag.core.condition import AnchorKind
from agrajag.core.features import Features
from agrajag.core.json_paths import Path, PathTree
from agrajag.model.enums import CallTargetKind, CredentialKind

Finder: TypeAlias = Callable[[Features], Iterable[Hashable]]

_PATTERNS_MEMORY_BYTES = 1 << 26
_NAMES_KEPT = 1_024


def finder(kind: AnchorKind, keys: Collection[Any]) -> Finder:
    """What finds those of `keys`, facts of a kind other than TEXT, that an error shows; it may find others besides."""
    made = _MADE.get(kind)
    return _DRAWN[kind] if made is None else made(keys)


def _call(features: Features) -> Iterable[Hashable]:
    event = features.event
    return (
        ("transport", event.transport),
        ("credentialKind", event.credential_kind or CredentialKind.UNKNOWN),
        ("targetKind", event.target_kind or CallTargetKind.UNKNOWN),
    )


_DRAWN: Mapping[AnchorKind, Finder] = {
    AnchorKind.STATUS: lambda features: (features.http_status,),
    AnchorKind.FAMILY: lambda features: (features.family,),
    AnchorKind.TOOL: lambda features: (features.tool,),
    AnchorKind.CALL: _call,
    AnchorKind.HEADER: attrgetter("headers"),
    AnchorKind.EXCEPTION: attrgetter("exception_names"),
    AnchorKind.EXCEPTION_END: lambda features: {name.rpartition(".")[2] for name in features.exception_names},
    AnchorKind.SPEC_CODE: attrgetter("error_codes"),
    AnchorKind.CODE: attrgetter("codes"),
    AnchorKind.RPC: attrgetter("rpc_codes"),
    AnchorKind.GRPC: attrgetter("grpc_statuses"),
    AnchorKind.SQL: attrgetter("sql_states"),
}


def _path_codes(keys: Collection[tuple[Path, str]]) -> Finder:
    """Codes at all paths that rules name, and the reporter's own under the path without steps."""
    tree = PathTree(path for path, _ in keys if path)

    def found_in(features: Features) -> Iterator[Hashable]:
        if features.error.error_code:
            yield (), features.error.error_code
        for body in features.json_bodies:
            yield from tree.values(body)

    return found_in


def _patterns(keys: Collection[BodyPattern]) -> Finder:
    """Patterns of which nothing plain is known, all tried in one pass."""
    patterns = list(keys)
    options = case_insensitive()
    options.max_mem = _PATTERNS_MEMORY_BYTES
    together = re2.Set.SearchSet(options)
    for pattern in patterns:
        together.Add(of_lines(pattern.text))
    together.Compile()
    return lambda features: [patterns[number] for number in together.Match(features.searched) or ()]


def _globs(name_in: Callable[[Features], str | None]) -> Callable[[Collection[str]], Finder]:
    """Globs that a name fits, remembered for each name: few tools make many errors."""

    def made(keys: Collection[str]) -> Finder:
        each, together = [(glob, matching_any((glob,))) for glob in keys], matching_any(tuple(keys))

        @lru_cache(_NAMES_KEPT)
        def fitting(name: str | None) -> tuple[str, ...]:
            if name is None or together(name) is None:
                return ()
            return tuple(glob for glob, fits in each if fits(name) is not None)

        return lambda features: fitting(name_in(features))

    return made


_MADE: Mapping[AnchorKind, Callable[[Collection[Any]], Finder]] = {
    AnchorKind.PATH_CODE: _path_codes,
    AnchorKind.PATTERN: _patterns,
    AnchorKind.TOOL_GLOB: _globs(attrgetter("tool")),
    AnchorKind.FAMILY_GLOB: _globs(attrgetter("family")),
}
CHEAPEST_FIRST = (
    AnchorKind.STATUS, AnchorKind.FAMILY, AnchorKind.FAMILY_GLOB, AnchorKind.TOOL, AnchorKind.TOOL_GLOB,
    AnchorKind.CALL, AnchorKind.HEADER, AnchorKind.EXCEPTION, AnchorKind.EXCEPTION_END, AnchorKind.SPEC_CODE,
    AnchorKind.CODE, AnchorKind.PATH_CODE, AnchorKind.RPC, AnchorKind.SQL, AnchorKind.GRPC, AnchorKind.PATTERN,
)  # fmt: skip
"""The kinds but for TEXT in the order in which they are best looked for."""
