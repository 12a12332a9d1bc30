"""How right the rules are, beside what they cost: the figures of the open corpus."""

from tests.corpus.reading import scored


def measure() -> dict[str, float]:
    """`corpus.*`: the shares of the score of bundled rules and packs, and how many confusions are harmful.

    `corpus.without_the_family` is `corpus.unambiguous` with the packs about a record's own kind of system off.
    """
    score = scored()
    return {
        "corpus.unambiguous": score.unambiguous.share or 0.0,
        "corpus.all": score.all.share or 0.0,
        "corpus.acceptable": score.acceptable.share or 0.0,
        "corpus.left_unclear": score.unclear.share or 0.0,
        "corpus.cooldown": score.cooldown.share or 0.0,
        "corpus.harmful": float(len(score.harmful)),
        "corpus.without_the_family": scored(leave_family_out=True).unambiguous.share or 0.0,
    }
