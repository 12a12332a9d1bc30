"""Rule packs: rules about documented failures of protocols and vendors, beneath what tenants and projects say.

A pack rule decides nothing that a tenant's or project's own rule decides. Where a bundled rule would decide, the pack
rules are asked with the bundled ones, in one order: those with `before` stand directly before the bundled rule that
they name, the others directly before `fallback`. A pack rule whose id a tenant or project uses is left out; a `before`
whose rule they replaced is dropped, and the rule stands directly before `fallback`.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any
from weakref import WeakValueDictionary

from agrajag.core.features import Features
from agrajag.core.match import RuleSet
from agrajag.core.rules import FALLBACK, Layer, Rule, merge

GENERAL = "general"
"""The pack that is asked last."""


@dataclass(frozen=True, slots=True)
class Pack:
    """The rules of one pack. `families` are the kinds of systems that it is about, with `*`; none for all of them.

    `sources` say where the meaning of each rule is documented, `examples` are errors that it decides and
    `counter_examples` some that it must not, each as its file has them.
    """

    name: str
    families: tuple[str, ...]
    description: str
    layer: Layer
    sources: Mapping[str, str]
    examples: Mapping[str, tuple[Mapping[str, Any], ...]]
    counter_examples: Mapping[str, tuple[Mapping[str, Any], ...]]

    def is_about(self, family: str) -> bool:
        """Whether the pack was written for this family in particular."""
        return any(fnmatchcase(family, pattern) for pattern in self.families)


def asked_order(packs: Collection[Pack]) -> list[Pack]:
    """Packs as they are asked: those about families by name, then those about protocols, `general` last."""
    return sorted(packs, key=lambda pack: (not pack.families, pack.name == GENERAL, pack.name))


class _Beneath:
    """The bundled rules with packs among them, without those whose ids are `taken`."""

    def __init__(self, bundled: Sequence[Rule], packs: Sequence[Pack], taken: frozenset[str]) -> None:
        self._packed = [
            replace(rule, before=None) if rule.before in taken else rule
            for pack in packs
            for rule in pack.layer.rules
            if rule.id not in taken
        ]
        self.rules = RuleSet(self.among([rule for rule in bundled if rule.id not in taken]))

    def among(self, order: Sequence[Rule]) -> list[Rule]:
        """`order` with each pack rule directly before the rule it names, else before `fallback`, else last."""
        ahead: dict[str, list[Rule]] = defaultdict(list)
        for rule in self._packed:
            ahead[rule.before or FALLBACK].append(rule)
        found: list[Rule] = []
        for rule in order:
            found += (*ahead.pop(rule.id, ()), rule)
        return found + ahead[FALLBACK]


class PackedRuleSet(RuleSet):
    """The rules of a tenant or project over packs.

    `order` are the bundled and their own, `own` the ids of the latter. What one of `own` decides in that order stands;
    about all else the rules `beneath` are asked. `rules` shows all of them, each where it stands.
    """

    def __init__(
        self,
        order: RuleSet,
        own: frozenset[str],
        beneath: _Beneath,
        rules: Sequence[Rule],
        trial: RuleSet | None,
    ) -> None:
        # Nothing is compiled here: both orders that are asked have been, and the one beneath is shared.
        self._order = order
        self._own = own
        self._beneath = beneath
        self.rules = tuple(rules)
        self.trial = trial
        self.hash = hashlib.sha256(f"{order.hash} {beneath.rules.hash}".encode()).hexdigest()[:16]

    def first_match(self, features: Features) -> Rule | None:
        """The rule that decides, or None where not even a fallback matches."""
        rule = self._order.first_match(features)
        if rule is not None and rule.id in self._own:
            return rule
        return self._beneath.rules.first_match(features)


class PacksOn:
    """The packs that are on for some tenants, and what is compiled from them, which those tenants share."""

    def __init__(self, bundled: Sequence[Rule], packs: Collection[Pack]) -> None:
        self.packs = tuple(asked_order(packs))
        self._bundled = tuple(bundled)
        self._everybody = _Beneath(bundled, self.packs, frozenset())
        self._known = frozenset(rule.id for rule in self._everybody.rules.rules)
        self._shared: WeakValueDictionary[frozenset[str], _Beneath] = WeakValueDictionary()

    def compiled(self, layers: Sequence[Sequence[Rule]] = ()) -> RuleSet:
        """The set that a tenant's and project's rules, widest first, put in force over bundled rules and packs.

        Its trial is that of their shadow rules, as of `core.match.compiled`.
        """
        if any(rule.shadow for layer in layers for rule in layer):
            tried = self._over(layers, on_trial=True)
            in_force = self._over(layers, trial=tried)
            return in_force if in_force.rules != tried.rules else self._over(layers)
        return self._over(layers)

    def _over(
        self, layers: Sequence[Sequence[Rule]], *, on_trial: bool = False, trial: RuleSet | None = None
    ) -> RuleSet:
        order = merge([self._bundled, *layers], on_trial=on_trial)
        bundled = {id(rule) for rule in self._bundled}
        own = frozenset(rule.id for rule in order if id(rule) not in bundled)
        if not own and trial is None:
            return self._everybody.rules
        if not self.packs:
            return RuleSet(order, trial)
        beneath = self._beneath(own & self._known)
        return PackedRuleSet(RuleSet(order), own, beneath, beneath.among(order), trial)

    def _beneath(self, taken: frozenset[str]) -> _Beneath:
        if not taken:
            return self._everybody
        found = self._shared.get(taken)
        if found is None:
            found = self._shared[taken] = _Beneath(self._bundled, self.packs, taken)
        return found
