"""The open corpus, and what the rules say about it."""

from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from agrajag.core.policy import Policy
from agrajag.core.score import Labelled, Score, score
from agrajag.documents.cascade import Cascade
from agrajag.documents.rulebook import Rulebook, rules_without_family
from agrajag.wire.corpus import read_corpus

OPEN = Path(__file__).parent / "open.jsonl"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@cache
def open_corpus() -> tuple[Labelled, ...]:
    """Its records; none of its lines is bad."""
    corpus = read_corpus(OPEN.read_bytes().splitlines(), OPEN.name, _NOW)
    assert corpus.problems == ()
    return corpus.records


@cache
def scored(*, leave_family_out: bool = False) -> Score:
    """The score of bundled rules and packs on the open corpus."""
    in_force = Rulebook(Cascade({})).in_force("", None)
    if leave_family_out:
        return score(open_corpus(), partial(rules_without_family, in_force), Policy())
    return score(open_corpus(), lambda _family: in_force.rules, Policy())
