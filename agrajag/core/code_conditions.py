"""Conditions on the codes by which services and protocols name a failure."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agrajag.core.condition import Anchor, AnchorKind, Condition, Values
from agrajag.core.features import Features
from agrajag.core.json_paths import Path, PathTree, path_text


@dataclass(frozen=True, slots=True)
class ErrorCodes(Condition):
    """A code, at one of the well-known places or at these paths, or the reporter's own, is one of several."""

    selector: ClassVar[str] = "errorCodes"
    values: tuple[str, ...]
    paths: tuple[Path, ...] = ()
    _tree: PathTree = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tree", PathTree(self.paths))

    def holds(self, features: Features) -> bool:
        if not self.paths:
            return not features.codes.isdisjoint(self.values)
        if features.error.error_code in self.values:
            return True
        return any(
            value in self.values for body in features.json_bodies for _, value in self._tree.values(body)
        )

    def entry(self) -> Any:
        at = [path_text(path) for path in self.paths]
        return {"in": list(self.values)} | ({"at": at} if at else {})

    def shown(self, features: Features) -> str:
        found = features.codes
        if self.paths:
            found = frozenset(value for body in features.json_bodies for _, value in self._tree.values(body))
            found |= {features.error.error_code} if features.error.error_code else set()
        return f"error codes: {', '.join(sorted(found))}" if found else "no error code"

    def anchors(self) -> tuple[Anchor, ...]:
        if not self.paths:
            return tuple(Anchor(AnchorKind.CODE, value) for value in self.values)
        keys = ((path, value) for path in ((), *self.paths) for value in self.values)
        return tuple(Anchor(AnchorKind.PATH_CODE, key) for key in keys)

    def covers(self, other: Condition) -> bool:
        return (
            isinstance(other, ErrorCodes)
            and set(other.values) <= set(self.values)
            and (self.paths == other.paths or (bool(other.paths) and set(other.paths) <= set(self.paths)))
        )

    def lint_keys(self) -> tuple[Hashable, ...]:
        return tuple((self.selector, value) for value in self.values)


@dataclass(frozen=True, slots=True)
class RpcCode(Values):
    """The code of a JSON-RPC error."""

    selector: ClassVar[str] = "rpcCode"
    kind: ClassVar[AnchorKind | None] = AnchorKind.RPC

    def holds(self, features: Features) -> bool:
        return not features.rpc_codes.isdisjoint(self.values)

    def shown(self, features: Features) -> str:
        return _listed("JSON-RPC codes", map(str, features.rpc_codes))


@dataclass(frozen=True, slots=True)
class GrpcStatus(Values):
    """The name of a gRPC status."""

    selector: ClassVar[str] = "grpcStatus"
    kind: ClassVar[AnchorKind | None] = AnchorKind.GRPC

    def holds(self, features: Features) -> bool:
        return not features.grpc_statuses.isdisjoint(self.values)

    def shown(self, features: Features) -> str:
        return _listed("gRPC statuses", features.grpc_statuses)


@dataclass(frozen=True, slots=True)
class SqlState(Values):
    """An SQLSTATE, or a class of them such as `08*`."""

    selector: ClassVar[str] = "sqlState"
    kind: ClassVar[AnchorKind | None] = AnchorKind.SQL

    def holds(self, features: Features) -> bool:
        return not features.sql_states.isdisjoint(self.values)

    def shown(self, features: Features) -> str:
        return _listed("SQLSTATEs", features.sql_states)


def _listed(what: str, found: Iterable[str]) -> str:
    listed = sorted(found)
    return f"{what}: {', '.join(listed)}" if listed else f"no {what}"
