"""What is in force for whom: merged as the specification says, never by half, and kept where a text is unusable."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.day_limits import DayLimits
from agrajag.core.match import RuleSet
from agrajag.core.policy import ALL_NAMES, Names, Policy
from agrajag.core.rule_parsing import MAX_RULES
from agrajag.core.rules import Rule, merge
from agrajag.documents.cascade import DocumentName
from agrajag.documents.pack_files import bundled_packs, packed_rules
from agrajag.documents.rule_files import bundled_layer, bundled_rules, read_layer
from agrajag.documents.rulebook import Rulebook
from agrajag.model.enums import Classification
from tests.builders import features_of
from tests.documents.texts import a_cascade, a_rule_file, a_rule_text, rules_at, settings_at

_BROKEN = "patterns: [\n"


def _ids(book: Rulebook, tenant: str = "acme", project: str | None = None) -> list[str]:
    return [rule.id for rule in _but_of_packs(book.effective(tenant, project)[0])]


def _but_of_packs(rules: RuleSet) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules.rules if rule.pack is None)


def test_without_documents_everybody_has_the_bundled_rules_with_every_pack_and_the_defaults() -> None:
    book = Rulebook(a_cascade(), Policy(history_size=7))
    assert book.effective("acme", "essays") == (packed_rules(), Policy(history_size=7))
    assert book.problems == ()


def test_a_tenants_rule_holds_in_its_projects_and_for_nobody_else() -> None:
    book = Rulebook(a_cascade([(rules_at("acme"), a_rule_file("teapot"))]))
    assert _ids(book)[-2:] == ["teapot", "fallback"]
    assert _ids(book, "acme", "essays") == _ids(book)
    assert book.effective("globex", None)[0] is packed_rules()


def test_a_project_merges_over_its_tenant() -> None:
    tenant = a_rule_file("teapot", a_rule_text("http-403", note="tenant"))
    project = a_rule_file("kettle", a_rule_text("http-403", note="project"))
    book = Rulebook(a_cascade([(rules_at("acme"), tenant), (rules_at("acme", "essays"), project)]))
    assert _ids(book, "acme", "essays")[-3:] == ["teapot", "kettle", "fallback"]
    notes = {
        project: _but_of_packs(book.effective("acme", project)[0])[2].note
        for project in (None, "novels", "essays")
    }
    assert notes == {None: "tenant", "novels": "tenant", "essays": "project"}
    layers = book.in_force("acme", "essays").layers
    assert layers[0] is bundled_layer()
    assert [layer.source for layer in layers[1:]] == [str(rules_at("acme")), str(rules_at("acme", "essays"))]


def test_one_bad_rule_is_rejected_alone_and_named() -> None:
    text = a_rule_file(
        "teapot", a_rule_text("worn", classification="WORKING"), a_rule_text("typo", match={"status": 4})
    )
    book = Rulebook(a_cascade([(rules_at("acme"), text)]))
    assert _ids(book)[-2:] == ["teapot", "fallback"]
    found = book.in_force("acme", "essays").problems
    assert [(problem.source, problem.rule_id, problem.field) for problem in found] == [
        (str(rules_at("acme")), "worn", "classification"),
        (str(rules_at("acme")), "typo", "match.status"),
    ]
    assert book.problems == found


@pytest.mark.parametrize(
    "broken", [_BROKEN, "rules: []", "", "- a", "patterns:\n" + "- {}\n" * (MAX_RULES + 1)]
)
def test_a_file_that_becomes_unusable_keeps_what_it_said_and_says_why(broken: str) -> None:
    before = Rulebook(a_cascade([(rules_at("acme"), a_rule_file("teapot"))]))
    book = Rulebook(a_cascade([(rules_at("acme"), broken)]), before=before)
    assert book.effective("acme", None)[0].hash == before.effective("acme", None)[0].hash
    (problem,) = book.in_force("acme", None).problems
    assert (problem.source, problem.rule_id) == (str(rules_at("acme")), None)
    again = Rulebook(a_cascade([(rules_at("acme"), broken + "# more")]), before=book)
    assert _ids(again) == _ids(before)
    mended = Rulebook(a_cascade([(rules_at("acme"), a_rule_file("kettle"))]), before=again)
    assert _ids(mended)[-2:] == ["kettle", "fallback"]
    assert mended.problems == ()


def test_a_file_that_was_never_usable_says_nothing() -> None:
    book = Rulebook(a_cascade([(rules_at("acme"), _BROKEN)]))
    assert _ids(book) == [rule.id for rule in bundled_rules().rules]
    assert len(book.problems) == 1


def test_a_document_that_is_removed_leaves_nothing_behind() -> None:
    before = Rulebook(
        a_cascade(
            [(rules_at("acme"), a_rule_file("teapot")), (settings_at("acme"), "agrajag.answer.all: true")]
        )
    )
    book = Rulebook(a_cascade(), before=before)
    assert book.effective("acme", None) == (packed_rules(), Policy())


def test_a_tenant_may_replace_the_fallback() -> None:
    text = a_rule_file(a_rule_text("fallback", match={}))
    book = Rulebook(a_cascade([(rules_at("acme"), text)]))
    assert _ids(book) == [rule.id for rule in bundled_rules().rules]
    rule = book.effective("acme", None)[0].first_match(features_of())
    assert rule is not None
    assert rule.classification is Classification.USER_INPUT
    assert book.warnings == ()


def test_a_fallback_that_matches_not_everything_is_warned_about() -> None:
    book = Rulebook(a_cascade([(rules_at("acme"), a_rule_file("fallback"))]))
    (warning,) = book.warnings
    assert (warning.source, warning.field) == (str(rules_at("acme")), "patterns")


def test_a_rule_that_can_never_match_is_warned_about_at_its_document() -> None:
    shadowed = a_rule_text("mine", match={"httpStatus": 503, "bodyContains": ["maintenance"]})
    documents = [
        (rules_at("acme"), a_rule_file(shadowed)),
        (rules_at("acme", "essays"), a_rule_file("teapot")),
    ]
    book = Rulebook(a_cascade([*documents, (rules_at("globex"), a_rule_file(shadowed))]))
    warning, elsewhere = book.warnings
    assert (warning.source, warning.rule_id) == (str(rules_at("acme")), "mine")
    assert elsewhere == replace(warning, source=str(rules_at("globex")))
    assert "'http-5xx'" in warning.reason
    assert book.in_force("acme", "essays").warnings == (warning,)
    before = a_rule_text(
        "mine", match={"httpStatus": 503, "bodyContains": ["maintenance"]}, before="http-5xx"
    )
    assert Rulebook(a_cascade([(rules_at("acme"), a_rule_file(before))])).warnings == ()


def test_equal_documents_share_one_rule_set_and_what_did_not_change_is_not_read_again() -> None:
    text = a_rule_file("teapot")
    tenants = [(rules_at(f"tenant-{number}"), text) for number in range(50)]
    before = Rulebook(a_cascade(tenants))
    assert len({id(before.effective(f"tenant-{number}", "p")[0]) for number in range(50)}) == 1
    book = Rulebook(a_cascade([*tenants[1:], (rules_at("tenant-0"), a_rule_file("kettle"))]), before=before)
    assert book.effective("tenant-1", None)[0] is before.effective("tenant-1", None)[0]
    assert _ids(book, "tenant-0")[-2:] == ["kettle", "fallback"]


def test_settings_come_from_the_narrowest_document_that_has_a_usable_value() -> None:
    tenant = "agrajag.cooldown.max: PT6H\nagrajag.answer.all: true\nagrajag.diagnosis.never: [search]\n"
    project = "agrajag.cooldown.max: PT30M\nagrajag.answer.al: true\nagrajag.diagnosis.never: true\n"
    documents = [(settings_at("acme"), tenant), (settings_at("acme", "essays"), project)]
    book = Rulebook(a_cascade(documents), Policy(freshness=timedelta(minutes=1)))
    policy = book.effective("acme", "novels")[1]
    assert (policy.cooldown_max, policy.answer_all) == (timedelta(hours=6), True)
    assert policy.never_diagnosed == Names(names=frozenset({"search"}))
    narrow = book.effective("acme", "essays")[1]
    assert (narrow.cooldown_max, narrow.never_diagnosed) == (timedelta(hours=6), ALL_NAMES)
    assert narrow.freshness == timedelta(minutes=1)
    found = book.in_force("acme", "essays").problems
    assert [(problem.source, problem.field) for problem in found] == [
        (str(settings_at("acme", "essays")), "agrajag.cooldown.max"),
        (str(settings_at("acme", "essays")), "agrajag.answer.al"),
    ]
    assert book.effective("globex", None)[1] == Policy(freshness=timedelta(minutes=1))


def test_a_tenant_switches_packs_off_and_its_project_on_again() -> None:
    documents = [
        (settings_at("acme"), "agrajag.packs.off: true"),
        (settings_at("acme", "essays"), "agrajag.packs.off: false"),
        (rules_at("acme"), a_rule_file("teapot")),
    ]
    book = Rulebook(a_cascade(documents))
    assert book.effective("acme", "novels")[0].rules == _but_of_packs(book.effective("acme", None)[0])
    assert book.in_force("acme", None).packs == ()
    assert book.in_force("acme", "essays").packs == bundled_packs()
    assert (
        book.effective("acme", "essays")[0].hash
        == Rulebook(a_cascade([(rules_at("acme"), a_rule_file("teapot"))]))
        .effective("acme", "essays")[0]
        .hash
    )
    assert book.warnings == ()


def test_which_packs_are_on_tells_in_the_hash_of_a_rule_set() -> None:
    text = a_rule_file("teapot")
    documents = [(rules_at(tenant), text) for tenant in ("acme", "globex")]
    book = Rulebook(a_cascade([*documents, (settings_at("acme"), "agrajag.packs.off: [general]")]))
    assert book.effective("acme", None)[0].hash != book.effective("globex", None)[0].hash


def test_a_pack_that_does_not_exist_is_warned_about() -> None:
    book = Rulebook(a_cascade([(settings_at("acme"), "agrajag.packs.off: [generel]")]))
    (warning,) = book.warnings
    assert (warning.source, warning.field) == (str(settings_at("acme")), "agrajag.packs.off")
    assert "no rule pack 'generel'; known are " in warning.reason


def test_every_file_that_rules_come_from_is_named_packs_beneath_the_tenants() -> None:
    book = Rulebook(a_cascade([(rules_at("acme"), a_rule_file("teapot"))]))
    sources = [layer.source for layer in book.in_force("acme", None).files]
    assert (sources[0], sources[-1]) == (bundled_layer().source, str(rules_at("acme")))
    assert sources[1:-1] == [pack.layer.source for pack in bundled_packs()]


def test_settings_that_become_unusable_keep_what_they_said() -> None:
    before = Rulebook(a_cascade([(settings_at("acme"), "agrajag.answer.all: true")]))
    book = Rulebook(a_cascade([(settings_at("acme"), "{")]), before=before)
    assert book.effective("acme", None)[1].answer_all
    assert [problem.field for problem in book.problems] == ["yaml"]


_FILES = st.sampled_from(
    [
        a_rule_file(),
        a_rule_file("a"),
        a_rule_file("a", "b"),
        a_rule_file(a_rule_text("http-403", note="x"), "c"),
        a_rule_file(a_rule_text("fallback", match={})),
        a_rule_file(a_rule_text("a", cooldown="soon"), "b"),
        _BROKEN,
    ]
)
_NAMES = st.builds(
    rules_at, st.sampled_from(["acme", "globex"]), st.none() | st.sampled_from(["essays", "novels"])
)


@given(st.lists(st.dictionaries(_NAMES, _FILES, max_size=5), min_size=1, max_size=5))
def test_after_any_changes_a_rule_set_is_always_the_merge_of_whole_last_good_files(
    history: list[dict[DocumentName, str]],
) -> None:
    book: Rulebook | None = None
    good: dict[DocumentName, str] = {}
    for documents in history:
        book = Rulebook(a_cascade(documents.items()), before=book)
        good = {
            name: text if read_layer(text, "x").usable else good.get(name, "patterns: []")
            for name, text in documents.items()
        }
        for tenant in ("acme", "globex"):
            for project in (None, "essays", "novels"):
                names = dict.fromkeys([rules_at(tenant), rules_at(tenant, project)])
                layers = [read_layer(good[name], "x").rules for name in names if name in good]
                rules = book.effective(tenant, project)[0]
                assert _but_of_packs(rules) == merge([bundled_layer().rules, *layers])


def test_of_one_alias_the_narrowest_document_counts_and_the_tenants_alone_where_no_project_is_asked_for() -> (
    None
):
    tenant, project = "ai.alias.fast: small\nai.alias.agrajag: large", "ai.alias.fast: strange"
    book = Rulebook(a_cascade([(settings_at("acme"), tenant), (settings_at("acme", "essays"), project)]))
    assert book.aliases("acme", None) == {"fast": "small", "agrajag": "large"}
    assert book.aliases("acme", "essays") == {"fast": "strange", "agrajag": "large"}
    assert book.aliases("globex", None) == {}
    assert book.problems == ()


def test_a_budget_is_the_tenants_to_say_and_a_projects_is_a_problem() -> None:
    documents = [
        (settings_at("acme"), "agrajag.budget.runs: 7"),
        (settings_at("acme", "essays"), "agrajag.budget.runs: 1000000\nagrajag.budget.usd: 900"),
    ]
    book = Rulebook(a_cascade(documents))
    assert book.day_limits("acme", DayLimits(runs=3, tokens=5)) == DayLimits(runs=7, tokens=5)
    assert book.day_limits("globex", DayLimits(runs=3)) == DayLimits(runs=3)
    told = [(problem.source, problem.field) for problem in book.problems]
    assert told == [
        (str(settings_at("acme", "essays")), f"agrajag.budget.{name}") for name in ("runs", "usd")
    ]
    assert book.in_force("acme", "essays").problems == book.problems
