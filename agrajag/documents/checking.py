"""Checks documents before they are pushed: rule files one by one, or a whole directory with its layers merged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agrajag.clock import utc_now
from agrajag.core.lint import lint, never_matched
from agrajag.core.pack_parsing import parse_pack
from agrajag.core.packs import PacksOn
from agrajag.core.proofs import unproven
from agrajag.core.rule_parsing import parse_layer
from agrajag.core.rules import Layer, Problem
from agrajag.documents.cascade import Cascade
from agrajag.documents.directory import read_directory, read_text
from agrajag.documents.pack_files import bundled_packs
from agrajag.documents.pushing import faults_in
from agrajag.documents.rule_files import bundled_layer
from agrajag.documents.rulebook import Rulebook
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.model.events import ToolCallError


class Checked(NamedTuple):
    """What was looked at, what of it is rejected, and what is odd about the rest."""

    documents: int
    rules: int
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check(paths: Iterable[Path], against: Sequence[ToolCallError] = ()) -> Checked:
    """Check each path: a directory of documents, a rule file as if it were a tenant's own, or one of a rule pack.

    Of rules that fit none of the errors `against` which they are held, where there are any, that is told too.

    What several files say wrong together (layers that hide each other's rules) is only seen in a directory. Raises
    ConfigError for a directory that cannot be read; a file that cannot is a problem.
    """
    found = [_directory(path, against) if path.is_dir() else _file(path, against) for path in paths]
    return Checked(
        documents=sum(one.documents for one in found),
        rules=sum(one.rules for one in found),
        problems=tuple(problem for one in found for problem in one.problems),
        warnings=tuple(warning for one in found for warning in one.warnings),
    )


def _file(path: Path, against: Sequence[ToolCallError]) -> Checked:
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return Checked(1, 0, (Problem(str(path), None, "file", reason),), ())
    source = str(path)
    try:
        data = read_yaml(text)
    except NotYaml as error:
        return Checked(1, 0, (Problem(source, None, error.field, str(error)),), ())
    if not isinstance(data, Mapping) or not isinstance(data.get("patterns"), list):
        reason = (
            "holds no rules: those stand in a list `patterns`; other documents are checked in their directory"
        )
        return Checked(1, 0, (Problem(source, None, "file", reason),), ())
    if "name" in data and "description" in data:
        return _pack(data, source, against)
    layer = parse_layer(data, source)
    none = (
        [] if data["patterns"] else [Problem(source, None, "patterns", "holds no rules: the list is empty")]
    )
    warnings = (*none, *lint((bundled_layer(), layer)), *_never_matched([layer], against))
    return Checked(1, len(layer.rules), layer.problems, warnings)


def _pack(data: Mapping[Any, Any], source: str, against: Sequence[ToolCallError]) -> Checked:
    """A file of a rule pack, beside the other packs of the package: its examples prove it."""
    bundled = bundled_layer().rules
    pack, problems = parse_pack(data, source, frozenset(rule.id for rule in bundled))
    if pack is None:
        return Checked(1, 0, problems, ())
    packs = [*(other for other in bundled_packs() if other.name != pack.name), pack]
    rules = PacksOn(bundled, packs).compiled()
    warnings = _never_matched([pack.layer], against)
    return Checked(1, len(pack.layer.rules), tuple(unproven(pack, rules, utc_now())), tuple(warnings))


def _never_matched(layers: Iterable[Layer], against: Sequence[ToolCallError]) -> Iterator[Problem]:
    for layer in layers if against else ():
        for rule in never_matched(layer.rules, against):
            reason = f"fits none of the {len(against):,} errors that it is held against"
            yield Problem(layer.source, rule.id, "match", reason)


def _directory(path: Path, against: Sequence[ToolCallError]) -> Checked:
    reading = read_directory(path)
    rulebook = Rulebook(Cascade(reading.documents))
    faults = faults_in(rulebook)
    layers: dict[str, Layer] = {}
    for owner in rulebook.cascade.owners({name.path for name in reading.documents}):
        layers |= {layer.source: layer for layer in rulebook.in_force(*owner).layers}
    layers.pop(bundled_layer().source, None)
    return Checked(
        documents=len(reading.documents),
        rules=sum(len(layer.rules) for layer in layers.values()),
        problems=(*reading.problems, *faults.problems),
        warnings=(*faults.warnings, *_never_matched(layers.values(), against)),
    )
