"""Checks documents before they are pushed: rule files one by one, or a whole directory with its layers merged."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agrajag.core.lint import lint, never_matched
from agrajag.core.rules import Layer, Problem
from agrajag.documents.cascade import Cascade
from agrajag.documents.directory import read_directory, read_text
from agrajag.documents.pushing import faults_in
from agrajag.documents.rule_files import bundled_layer, read_layer
from agrajag.documents.rulebook import Rulebook
from agrajag.model.events import ToolCallError


class Checked(NamedTuple):
    """What was looked at, what of it is rejected, and what is odd about the rest."""

    documents: int
    rules: int
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check(paths: Iterable[Path], against: Sequence[ToolCallError] = ()) -> Checked:
    """Check each path: a directory of documents, or a rule file as if it were a tenant's own.

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
    layer = read_layer(text, str(path))
    warnings = (*lint((bundled_layer(), layer)), *_never_matched([layer], against))
    return Checked(1, len(layer.rules), layer.problems, warnings)


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
