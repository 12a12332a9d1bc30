"""With every pack on, tenants' and projects' own rules decide exactly what they decide without any."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.core.features import Features
from agrajag.core.match import compiled
from agrajag.core.policy import NO_NAMES
from agrajag.core.rules import Rule
from agrajag.documents.pack_files import bundled_packs, packs_on
from agrajag.documents.rule_files import bundled_layer
from agrajag.model.events import ToolCallError
from tests.builders import a_rule
from tests.corpus.reading import open_corpus
from tests.packs.examples import error_of

_PACK_RULES = [rule for pack in bundled_packs() for rule in pack.layer.rules]
_BUNDLED = bundled_layer().rules
_ERRORS: list[ToolCallError] = [
    *(record.arrival.event for record in open_corpus()),
    *(error_of(example) for pack in bundled_packs() for shown in pack.examples.values() for example in shown),
]
_IDS = st.one_of(
    st.sampled_from(["mine", "ours", "theirs"]),
    st.sampled_from([rule.id for rule in _BUNDLED]),
    st.sampled_from([rule.id for rule in _PACK_RULES]),
)


@st.composite
def _own_rules(draw: st.DrawFn) -> Rule:
    """A rule as a tenant may write it: about statuses and words that failures have, or what a pack's rule matches."""
    changes: dict[str, Any] = {"before": draw(st.none() | _IDS)}
    if draw(st.booleans()):
        changes["match"] = draw(st.sampled_from(_PACK_RULES)).match
    else:
        changes["http_statuses"] = draw(
            st.sampled_from([None, (403, 403), (400, 499), (500, 599), (400, 599)])
        )
        changes["body_contains"] = draw(st.sampled_from([(), ("error",), ("limit", "token"), ("not",)]))
    return a_rule(draw(_IDS), **changes)


_LAYERS = st.lists(st.lists(_own_rules(), max_size=3, unique_by=lambda rule: rule.id), min_size=1, max_size=2)


@settings(max_examples=20)
@given(_LAYERS, st.lists(st.sampled_from(_ERRORS), min_size=20, max_size=20))
def test_what_an_own_rule_decides_without_packs_it_decides_with_all_of_them(
    layers: list[list[Rule]], errors: list[ToolCallError]
) -> None:
    alone, packed = compiled([_BUNDLED, *layers]), packs_on(NO_NAMES).compiled(layers)
    own = {id(rule) for layer in layers for rule in layer}
    for error in errors:
        without, beneath = alone.first_match(Features(error)), packed.first_match(Features(error))
        if id(without) in own or id(beneath) in own:
            assert beneath is without
