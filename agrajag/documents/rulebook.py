"""Works out what is in force for every tenant and project: the rules and the policy, from one snapshot of documents.

A rulebook never changes: whoever holds one judges by whole rule sets only. One bad rule or value is rejected alone; of
a file that is unusable as a whole what it said before stays in force, for as long as there is a rulebook before.
Tenants and projects without documents share one rule set, as do those whose documents are equal. The rule packs that
come with the package are in force for all who do not switch them off (`agrajag.packs.off`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from agrajag.core.day_limits import DayLimits
from agrajag.core.lint import lint
from agrajag.core.match import RuleSet
from agrajag.core.packs import Pack, PacksOn
from agrajag.core.policy import Names, Policy
from agrajag.core.policy_parsing import SettingsLayer, misplaced_limits, with_limits, with_settings
from agrajag.core.rules import Layer, Problem
from agrajag.documents.cascade import RULES_PATH, SETTINGS_PATH, Cascade, DocumentName
from agrajag.documents.pack_files import bundled_packs, packs_named, packs_on
from agrajag.documents.recipe_book import RecipeBook
from agrajag.documents.rule_files import bundled_layer, bundled_settings, read_layer, read_settings
from agrajag.documents.target_book import TargetBook

L = TypeVar("L", Layer, SettingsLayer)


@dataclass(frozen=True, slots=True)
class InForce:
    """What holds for one tenant and project.

    `layers` are the rule files that `rules` were merged from, widest first, each as it is in force; `packs` are the
    rule packs beneath them. `problems` say what of the documents is not in force, `warnings` what is and probably
    should not be.
    """

    rules: RuleSet
    policy: Policy
    layers: tuple[Layer, ...]
    packs: tuple[Pack, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def files(self) -> tuple[Layer, ...]:
        """Every file that rules come from, widest first."""
        bundled, *own = self.layers
        return (bundled, *(pack.layer for pack in self.packs), *own)


class _Reading(NamedTuple, Generic[L]):
    """A document as it is in force: where its text is unusable, with what it said before."""

    content: str
    layer: L


class _Compiled(NamedTuple):
    """A rule set with what is odd about it; `layers` are those of its first owner."""

    rules: RuleSet
    layers: tuple[Layer, ...]
    warnings: tuple[Problem, ...]

    def warnings_for(self, layers: tuple[Layer, ...]) -> tuple[Problem, ...]:
        """The same about equal layers of somebody else."""
        names = {first.source: own.source for first, own in zip(self.layers, layers, strict=True)}
        return tuple(replace(warning, source=names[warning.source]) for warning in self.warnings)


class Rulebook:
    """The rules, policies, recipes and declared tools of all tenants and projects.

    `defaults` is what holds where no settings document says otherwise. `before` is the rulebook that this one replaces:
    what has not changed is taken from it and not read again.
    """

    def __init__(
        self, cascade: Cascade, defaults: Policy | None = None, before: "Rulebook | None" = None
    ) -> None:
        self.cascade = cascade
        self.recipes: RecipeBook = RecipeBook(cascade, before.recipes if before else None)
        self.targets: TargetBook = TargetBook(cascade, before.targets if before else None)
        self._rules: dict[DocumentName, _Reading[Layer]] = _read(
            cascade, RULES_PATH, read_layer, before._rules if before else {}
        )
        self._settings: dict[DocumentName, _Reading[SettingsLayer]] = _read(
            cascade, SETTINGS_PATH, read_settings, before._settings if before else {}
        )
        self._compiled: dict[tuple[PacksOn, tuple[int, ...]], _Compiled] = {}
        policy = with_settings(defaults or Policy(), [bundled_settings()])
        on = packs_on(policy.packs_off)
        self._everybody = InForce(on.compiled(), policy, (bundled_layer(),), on.packs)
        self._own: dict[tuple[str, str | None], InForce] = {}
        for owner in sorted(
            cascade.owners((RULES_PATH, SETTINGS_PATH)), key=lambda owner: (owner[0], owner[1] or "")
        ):
            self._own[owner] = self._worked_out(*owner, before)

    def in_force(self, tenant_id: str, project_id: str | None) -> InForce:
        """What holds for a tenant's project, or for what belongs to no project of it."""
        found = self._own.get((tenant_id, project_id)) or self._own.get((tenant_id, None))
        return found or self._everybody

    def effective(self, tenant_id: str, project_id: str | None) -> tuple[RuleSet, Policy]:
        """The same, as decisions need it."""
        found = self.in_force(tenant_id, project_id)
        return found.rules, found.policy

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything in all documents that is not in force, each once."""
        rules = [problem for reading in self._rules.values() for problem in reading.layer.problems]
        settings = [
            problem for name, reading in self._settings.items() for problem in _rejected(name, reading.layer)
        ]
        return (*rules, *settings, *self.recipes.problems, *self.targets.problems)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Everything that is in force and probably should not be, each once."""
        return tuple(dict.fromkeys(warning for found in self._own.values() for warning in found.warnings))

    def aliases(self, tenant_id: str, project_id: str | None) -> Mapping[str, str]:
        """The model behind each alias; of one alias the narrowest document counts. Without a project, the tenant's."""
        layers = (bundled_settings(), *self._settings_of(tenant_id, project_id).values())
        return {alias: model for layer in layers for alias, model in layer.aliases.items()}

    def day_limits(self, tenant_id: str, defaults: DayLimits) -> DayLimits:
        """What a tenant may use of one day: as its own settings say, else `defaults`."""
        limits = with_limits(defaults, bundled_settings())
        for layer in self._settings_of(tenant_id, None).values():
            limits = with_limits(limits, layer)
        return limits

    def _settings_of(self, tenant_id: str, project_id: str | None) -> dict[DocumentName, SettingsLayer]:
        names = dict.fromkeys(
            DocumentName(tenant_id, project, SETTINGS_PATH) for project in (None, project_id)
        )
        return {name: self._settings[name].layer for name in names if name in self._settings}

    def _worked_out(self, tenant_id: str, project_id: str | None, before: "Rulebook | None") -> InForce:
        names = [DocumentName(tenant_id, None, RULES_PATH), DocumentName(tenant_id, project_id, RULES_PATH)]
        own = [self._rules[name].layer for name in dict.fromkeys(names) if name in self._rules]
        layers = (bundled_layer(), *own)
        settings = self._settings_of(tenant_id, project_id)
        problems = [problem for layer in own for problem in layer.problems]
        problems += [problem for name, layer in settings.items() for problem in _rejected(name, layer)]
        policy = with_settings(self._everybody.policy, settings.values())
        on = packs_on(policy.packs_off)
        found = self._compile(layers, on, before)
        warnings = (*found.warnings_for(layers), *_unknown_packs(settings.values()))
        return InForce(found.rules, policy, layers, on.packs, tuple(problems), warnings)

    def _compile(self, layers: tuple[Layer, ...], on: PacksOn, before: "Rulebook | None") -> _Compiled:
        # Equal texts are read into the very same rules, which live as long as their readings; so identity is enough.
        key = (on, tuple(id(layer.rules) for layer in layers))
        known = self._compiled.get(key) or (before._compiled.get(key) if before else None)
        if known is None:
            # Packs are beneath what tenants say, so that no pack can hide a rule of theirs.
            rules = on.compiled([layer.rules for layer in layers[1:]])
            known = _Compiled(rules, layers, lint(layers))
        self._compiled[key] = known
        return known


def rules_without_family(in_force: InForce, family: str) -> RuleSet:
    """The same rules without the packs that are about `family`: what the others alone say about it."""
    on = frozenset(pack.name for pack in in_force.packs if not pack.is_about(family))
    return packs_named(on).compiled([layer.rules for layer in in_force.layers[1:]])


def _unknown_packs(settings: Iterable[SettingsLayer]) -> Iterator[Problem]:
    """Packs that are switched off and do not exist: misspelled, or of another version."""
    known = {pack.name for pack in bundled_packs()}
    for layer in settings:
        off: Names = layer.values.get("packs_off", Names())
        if unknown := sorted(off.names - known):
            reason = f"there is no rule pack {unknown[0]!r}; known are {', '.join(sorted(known))}"
            yield Problem(layer.source, None, "agrajag.packs.off", reason)


def _rejected(name: DocumentName, layer: SettingsLayer) -> tuple[Problem, ...]:
    """What a settings document says that does not count."""
    return layer.problems if name.project_id is None else (*layer.problems, *misplaced_limits(layer))


def _read(
    cascade: Cascade, path: str, read: Callable[[str, str], L], before: Mapping[DocumentName, _Reading[L]]
) -> dict[DocumentName, _Reading[L]]:
    """Every document at `path`. Equal texts are read once."""
    by_content = {reading.content: reading.layer for reading in before.values() if reading.layer.usable}
    found: dict[DocumentName, _Reading[L]] = {}
    for name, content in cascade.documents.items():
        if name.path != path:
            continue
        known = before.get(name)
        if known is not None and known.content == content:
            found[name] = known
            continue
        layer = _called(by_content.get(content) or read(content, str(name)), str(name))
        if layer.usable:
            by_content[content] = layer
        elif known is not None:
            layer = _still(known.layer, layer.problems)
        found[name] = _Reading(content, layer)
    return found


def _called(layer: L, source: str) -> L:
    """The same layer under the name of another document."""
    if layer.source == source:
        return layer
    problems = tuple(replace(problem, source=source) for problem in layer.problems)
    return replace(layer, source=source, problems=problems)


def _still(layer: L, problems: tuple[Problem, ...]) -> L:
    """What a layer said before its document became unusable, with the reasons why it did."""
    return replace(layer, problems=problems, usable=False)
