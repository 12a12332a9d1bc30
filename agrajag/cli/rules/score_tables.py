"""What `agrajag rules score` prints, for people and for machines."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from agrajag.cli.tables import plain_table
from agrajag.core.score import Score, Scored, Share
from agrajag.model.enums import Classification

_FIGURES = ("unambiguous", "all", "acceptable", "unclear", "cooldown")


def _figures(scored: Score) -> dict[str, Share]:
    return {name: getattr(scored, name) for name in _FIGURES}


def score_tree(scored: Score) -> dict[str, Any]:
    """The figures, per family and per label, and every record that was not classified as its label allows."""
    return {
        **_figures_tree(scored),
        "harmful": {
            "count": len(scored.harmful),
            "byLabelAlone": sum(one.is_harmful_by_label for one in scored.scored),
            "records": [_record(one) for one in scored.harmful],
        },
        "families": {
            family: {"records": len(of.scored), **_figures_tree(of), "harmful": len(of.harmful)}
            for family, of in scored.families.items()
        },
        "classifications": {
            label: {"records": sum(said.values()), "right": said[label], "said": dict(said)}
            for label, said in scored.confusion.items()
        },
        "wrong": [_record(one) for one in scored.wrong],
    }


def _figures_tree(scored: Score) -> dict[str, Any]:
    return {
        name: {"right": share.right, "of": share.of, "share": share.share}
        for name, share in _figures(scored).items()
    }


def _record(one: Scored) -> dict[str, Any]:
    return {
        "id": one.record.id,
        "family": one.record.family,
        "expected": one.record.expected,
        "alternatives": sorted(one.record.alternatives),
        "said": one.said,
        "ruleId": one.rule.id if one.rule is not None else None,
        "pack": one.rule.pack if one.rule is not None else None,
        "expectedCooldownSeconds": one.record.cooldown_seconds,
        "cooldownSeconds": one.cooldown_seconds,
    }


_WORDS = {
    "unambiguous": "as labelled, of those with one right answer",
    "all": "as labelled, of all",
    "acceptable": "as labelled or as an alternative of the label",
    "unclear": "left UNCLEAR, of those that are not",
    "cooldown": "waits as long as the response asks for",
}


def figure_lines(scored: Score) -> Iterator[str]:
    """The five figures and the harmful confusions, one a line."""
    for name, share in _figures(scored).items():
        yield f"{name:<12}{_share_words(share):>18}  {_WORDS[name]}"
    by_label = sum(one.is_harmful_by_label for one in scored.scored)
    yield f"{'harmful':<12}{len(scored.harmful):>18,}  harmful confusions; {by_label:,} with those that a label allows"


def _share_words(share: Share) -> str:
    part = f"{share.share:.1%}" if share.share is not None else "-"
    return f"{share.right:,} of {share.of:,}  {part:>6}"


def score_tables(scored: Score, worst: int) -> Iterator[Table]:
    """Label against answer, the families, and the worst records with the rules that decided them."""
    yield _confusion_table(scored)
    yield _families_table(scored)
    if wrong := scored.wrong[:worst]:
        yield _wrong_table(wrong)


def _confusion_table(scored: Score) -> Table:
    said = [one for one in Classification if any(of[one] for of in scored.confusion.values())]
    table = plain_table(["label \\ said"], numbers=said)
    for label, counts in scored.confusion.items():
        table.add_row(label, *(f"{counts[one]:,}" if counts[one] else "" for one in said))
    return table


def _families_table(scored: Score) -> Table:
    table = plain_table(["family"], numbers=["records", *_FIGURES, "harmful"])
    for family, of in scored.families.items():
        shares = [f"{share.right}/{share.of}" if share.of else "" for share in _figures(of).values()]
        table.add_row(family, f"{len(of.scored):,}", *shares, str(len(of.harmful) or ""))
    return table


def _wrong_table(wrong: tuple[Scored, ...]) -> Table:
    table = plain_table(["record", "family", "label", "or", "said", "by", "wait"])
    for one in wrong:
        named, waits = one.record.cooldown_seconds, one.cooldown_seconds
        table.add_row(
            one.record.id,
            one.record.family,
            one.record.expected,
            ", ".join(sorted(one.record.alternatives)),
            f"{one.said} (harmful)" if one.is_harmful else one.said,
            one.rule.id if one.rule is not None else "-",
            "" if named is None else f"{waits or 0:g} s, asked for {named:g} s",
        )
    return table
