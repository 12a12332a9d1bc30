"""Checks documents before they are pushed: rule files one by one, or a whole directory with its layers merged."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from agrajag.core.lint import lint
from agrajag.core.rules import Layer, Problem
from agrajag.documents.cascade import Cascade
from agrajag.documents.directory import read_directory, read_text
from agrajag.documents.pushing import faults_in
from agrajag.documents.rule_files import bundled_layer, read_layer
from agrajag.documents.rulebook import Rulebook


class Checked(NamedTuple):
    """What was looked at, what of it is rejected, and what is odd about the rest."""

    documents: int
    rules: int
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check(paths: Iterable[Path]) -> Checked:
    """Check each path: a directory of documents, or a rule file as if it were a tenant's own.

    What several files say wrong together (layers that hide each other's rules) is only seen in a directory. Raises
    ConfigError for a directory that cannot be read; a file that cannot is a problem.
    """
    found = [_directory(path) if path.is_dir() else _file(path) for path in paths]
    return Checked(
        documents=sum(one.documents for one in found),
        rules=sum(one.rules for one in found),
        problems=tuple(problem for one in found for problem in one.problems),
        warnings=tuple(warning for one in found for warning in one.warnings),
    )


def _file(path: Path) -> Checked:
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return Checked(1, 0, (Problem(str(path), None, "file", reason),), ())
    layer = read_layer(text, str(path))
    return Checked(1, len(layer.rules), layer.problems, lint((bundled_layer(), layer)))


def _directory(path: Path) -> Checked:
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
        warnings=faults.warnings,
    )
