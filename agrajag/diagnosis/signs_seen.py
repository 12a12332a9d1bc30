"""What the probes of a run are signs of: what each identity met, what counts as evidence, and what agrees.

Which of them are evidence is said once, in `core.probe_failures`. A failure with a model's own input is none either: it
may be the input's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agrajag.core.probe_failures import evidence_in
from agrajag.diagnosis.probe import ProbeOutcome
from agrajag.diagnosis.signs import AMBIGUOUS, TECHNICAL, Sign, sign_of
from agrajag.model.enums import ProbeIdentity


@dataclass(frozen=True, slots=True)
class Seen:
    """What the probes as one identity have shown; `fails` are the signs of those that failed, in their order."""

    works: bool = False
    fails: tuple[Sign, ...] = ()
    had_credentials: bool = False

    @property
    def anything(self) -> bool:
        """Whether there is any evidence at all."""
        return self.works or bool(self.fails)

    @property
    def only_works(self) -> bool:
        """Whether it has worked each time."""
        return self.works and not self.fails

    @property
    def only_fails(self) -> bool:
        """Whether it has failed each time."""
        return bool(self.fails) and not self.works

    @property
    def flips(self) -> bool:
        """Whether the same probe has both worked and failed."""
        return self.works and bool(self.fails)


@dataclass(frozen=True, slots=True)
class SignsSeen:
    """All evidence of a run, and the sign of the error that was reported (None: nobody reported one)."""

    user: Seen
    system: Seen
    reported: Sign | None

    @property
    def fails(self) -> tuple[Sign, ...]:
        """The signs of all probes that failed."""
        return self.user.fails + self.system.fails

    @property
    def works(self) -> bool:
        """Whether any probe has worked."""
        return self.user.works or self.system.works

    @property
    def technical(self) -> Sign | None:
        """The technical way in which the tool fails, if two agree on it: two probes, or one and the report."""
        for sign in self.fails:
            if sign in TECHNICAL:
                votes = self.fails.count(sign) + (self.reported is sign)
            elif sign in AMBIGUOUS and self.reported is sign:
                votes = self.fails.count(sign)
            else:
                continue
            if votes >= 2:
                return sign
        return None


def signs_seen(outcomes: Sequence[ProbeOutcome], reported: Sign | None) -> SignsSeen:
    """What is evidence in these outcomes, by its signs."""
    telling = [one for one in evidence_in(outcomes) if one.success or not one.own_sample]
    return SignsSeen(_seen(telling, ProbeIdentity.USER), _seen(telling, ProbeIdentity.SYSTEM), reported)


def _seen(outcomes: Sequence[ProbeOutcome], identity: ProbeIdentity) -> Seen:
    own = [outcome for outcome in outcomes if outcome.identity is identity]
    signs = [sign_of(outcome) for outcome in own]
    return Seen(
        works=None in signs,
        fails=tuple(sign for sign in signs if sign is not None),
        had_credentials=any(outcome.had_credentials for outcome in own),
    )
