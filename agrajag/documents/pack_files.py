"""Reads the rule packs that come with the package (`agrajag/defaults/packs`).

A problem in one of them is a broken installation and stops the start, as for the bundled rules.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources

from agrajag.core.match import RuleSet
from agrajag.core.pack_parsing import parse_pack
from agrajag.core.packs import Pack, PacksOn, asked_order
from agrajag.core.policy import Names
from agrajag.core.rules import Problem
from agrajag.documents.rule_files import bundled_layer
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.errors import ConfigError

_SHARED = 64
"""So many different choices of packs are kept at a time."""


@cache
def bundled_packs() -> tuple[Pack, ...]:
    """Every pack, in the order in which they are asked. Raises ConfigError for one that is not sound."""
    bundled = frozenset(rule.id for rule in bundled_layer().rules)
    files = resources.files("agrajag").joinpath("defaults", "packs").iterdir()
    packs: list[Pack] = []
    problems: list[Problem] = []
    for file in sorted(files, key=lambda file: file.name):
        source = f"agrajag/defaults/packs/{file.name}"
        try:
            pack, found = parse_pack(read_yaml(file.read_text("utf-8")), source, bundled)
        except NotYaml as error:
            pack, found = None, (Problem(source, None, error.field, str(error)),)
        problems += found
        packs += () if pack is None else (pack,)
    problems += _clashes(packs)
    if problems:
        raise ConfigError(*map(str, problems))
    return tuple(asked_order(packs))


def packs_on(off: Names) -> PacksOn:
    """The packs but those that are switched off."""
    return packs_named(frozenset(pack.name for pack in bundled_packs() if pack.name not in off))


@lru_cache(_SHARED)
def packs_named(names: frozenset[str]) -> PacksOn:
    """The packs of these names."""
    return PacksOn(bundled_layer().rules, [pack for pack in bundled_packs() if pack.name in names])


def packed_rules() -> RuleSet:
    """The rule set of a tenant and project that say nothing themselves: bundled rules and every pack."""
    return packs_on(Names()).compiled()


def _clashes(packs: Iterable[Pack]) -> list[Problem]:
    """Names and ids that stand in two packs."""
    found: list[Problem] = []
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    for pack in packs:
        source = pack.layer.source
        if (first := names.setdefault(pack.name, source)) != source:
            found.append(Problem(source, None, "name", f"{pack.name!r} is that of {first}"))
        found += [
            Problem(source, rule.id, "id", f"stands in {first} as well")
            for rule in pack.layer.rules
            if (first := ids.setdefault(rule.id, source)) != source
        ]
    return found
