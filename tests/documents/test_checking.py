"""Documents are checked before anybody is judged by them: each file, and the layers of a directory together."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agrajag.core.rule_parsing import MAX_RULES
from agrajag.documents.cascade import TOOLS_PATH, DocumentName
from agrajag.documents.checking import Checked, check
from agrajag.documents.directory import file_of
from tests.builders import an_error
from tests.documents.texts import a_recipe_file, a_rule_file, a_rule_text, recipe_at, rules_at, settings_at

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a rule file."""

    def written(text: str) -> Path:
        file = tmp_path / "rules.yaml"
        file.write_text(text)
        return file

    return written


def test_a_good_file_is_counted_and_gives_nothing(write: Write) -> None:
    rules = a_rule_text("a"), a_rule_text("b", match={"httpStatus": 419})
    assert check([write(a_rule_file(*rules))]) == Checked(1, 2, (), ())


def _mistake(**fields: object) -> str:
    return a_rule_file("good", a_rule_text("bad", **fields))


_BILLION = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    + ["patterns: [{id: bad, match: {}, signature: *a29, classification: UNCLEAR}]"]
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_mistake(match={"bodyRegex": "5[0-9]+"}), "rule 'bad': match.bodyRegex: unknown selector"),
        (_mistake(match={"httpStatus": "5.."}), "rule 'bad': match.httpStatus: '5..' is no HTTP status"),
        (_mistake(classification="WORKING"), "rule 'bad': classification: an error never shows"),
        (_mistake(cooldown="5 minutes"), "rule 'bad': cooldown: '5 minutes' is no positive"),
        (_mistake(cooldown="PT0S"), "rule 'bad': cooldown: 'PT0S' is no positive"),
        (_mistake(shadow="yes"), "rule 'bad': shadow: 'yes' is neither true nor false"),
        (a_rule_file("bad", "bad"), "rule 'bad': id: stands twice in this file"),
        ("patterns: [", "yaml: "),
        ("rules: []", "file: holds no rules"),
        ("agrajag.cooldown.max: PT12H", "file: holds no rules"),
        (_BILLION, "rule 'bad': signature: "),
        (a_rule_file(*(f"r{n}" for n in range(MAX_RULES + 1))), "patterns: the file has 10,001 rules"),
    ],
    ids=[
        "a regular expression", "a pattern for a status", "WORKING", "a span in words", "no span", "a wrong flag",
        "an id twice", "no YAML", "no patterns", "settings", "aliases that explode", "too many rules",
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_one_problem_with_file_rule_field_and_reason(
    write: Write, text: str, told: str
) -> None:
    file = write(text)
    (problem,) = check([file]).problems
    assert str(problem).startswith(f"{file}: {told}")
    assert len(str(problem)) < 1_000


def test_a_file_whose_list_of_rules_is_empty_is_told(write: Write) -> None:
    (warning,) = check([write("patterns: []")]).warnings
    assert str(warning).endswith("patterns: holds no rules: the list is empty")


def test_a_file_of_a_pack_is_checked_as_one_and_its_examples_with_it() -> None:
    packs = Path("agrajag/defaults/packs")
    checked = check([packs / "slack.yaml"])
    assert checked.rules > 5
    assert checked.problems == ()


def test_an_example_that_its_rule_does_not_decide_is_told(write: Write) -> None:
    text = Path("agrajag/defaults/packs/figma.yaml").read_text("utf-8")
    checked = check([write(text.replace("  examples:", "  examples:\n      - { httpStatus: 599 }", 1))])
    (problem,) = checked.problems
    assert str(problem).endswith("examples[0]: is decided by http-5xx")


def test_ten_thousand_rules_are_a_good_file(write: Write) -> None:
    rules = [a_rule_text(f"r{n}", match={"errorCode": f"E{n}"}) for n in range(MAX_RULES)]
    assert check([write(a_rule_file(*rules))]) == Checked(1, MAX_RULES, (), ())


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"x" * 10_000_000, None], ids=["no UTF-8", "10 MB", "no file"]
)
def test_a_file_that_cannot_be_read_is_a_problem_that_names_it(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "rules.yaml"
    if content is not None:
        file.write_bytes(content)
    (problem,) = check([file]).problems
    assert str(problem).startswith(f"{file}: file: ")


def test_a_file_is_looked_at_as_a_tenants_own_over_the_bundled_rules(write: Write) -> None:
    hidden = a_rule_text("late", match={"httpStatus": 503})
    unknown = a_rule_text("x", before="nowhere")
    warned = [str(warning) for warning in check([write(a_rule_file(hidden, unknown))]).warnings]
    assert ["'http-5xx' stands before it" in warned[0], "no rule 'nowhere'" in warned[1]] == [True, True]


def test_rules_are_told_that_fit_none_of_the_errors_they_are_held_against(
    write: Write, tmp_path: Path
) -> None:
    text = a_rule_file(
        a_rule_text("seen", match={"errorCode": "E1"}), a_rule_text("unseen", match={"errorCode": "E2"})
    )
    directory = tmp_path / "documents"
    own = file_of(directory, rules_at("acme"))
    own.parent.mkdir(parents=True)
    own.write_text(text)
    for path in (write(text), directory):
        (warning,) = check([path], [an_error(error_code="E1"), an_error()]).warnings
        assert (warning.rule_id, warning.field) == ("unseen", "match")
        assert warning.reason == "fits none of the 2 errors that it is held against"
        assert check([path]).warnings == ()


def test_a_fallback_of_a_tenant_that_matches_less_is_warned_about(write: Write) -> None:
    (warning,) = check([write(a_rule_file("fallback"))]).warnings
    assert "no rule matches everything" in warning.reason


def test_a_directory_is_checked_with_its_layers_together(tmp_path: Path) -> None:
    files = {
        rules_at("acme"): a_rule_file(a_rule_text("wide", match={"errorCode": "E"})),
        rules_at("acme", "essays"): a_rule_file(
            a_rule_text("late", match={"errorCode": "E", "httpStatus": 503})
        ),
        rules_at("globex"): a_rule_file(a_rule_text("bad", match={"typo": 1})),
        settings_at("acme"): "agrajag.cooldown.max: soon",
    }
    for name, text in files.items():
        file_of(tmp_path, name).parent.mkdir(parents=True, exist_ok=True)
        file_of(tmp_path, name).write_text(text)
    (tmp_path / "astray.yaml").write_text("x")
    found = check([tmp_path])
    assert (found.documents, found.rules) == (4, 2)
    assert sorted(problem.source.partition("/")[0] for problem in found.problems) == [
        "acme",
        "astray.yaml",
        "globex",
    ]
    assert any("late" in str(warning) and "can never match" in str(warning) for warning in found.warnings)


def test_several_paths_are_told_together_in_their_order(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("x")
    second.write_text("y")
    found = check([second, first])
    assert [problem.source for problem in found.problems] == [str(second), str(first)]
    assert found.documents == 2


def test_an_empty_directory_holds_nothing_wrong(tmp_path: Path) -> None:
    assert check([tmp_path]) == Checked(0, 0, (), ())


def test_a_mistake_in_the_declaration_of_a_tool_is_told_with_file_tool_and_field(tmp_path: Path) -> None:
    name = DocumentName("acme", None, TOOLS_PATH)
    file_of(tmp_path, name).parent.mkdir(parents=True)
    file_of(tmp_path, name).write_text(
        "tools:\n  search: {safety: SAFE_PROBE, http: {url: 'ftp://x'}}\n  other: {}\n"
    )
    (problem,) = check([tmp_path]).problems
    assert str(problem).startswith("acme/_tenant/_vance/tools.yaml: tools.search.http.url: is no http or")


def test_a_recipe_in_a_directory_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    for tenant, text in (("acme", a_recipe_file("agrajag")), ("globex", "agrajag: {tools: []}")):
        file = file_of(tmp_path, recipe_at("agrajag", tenant))
        file.parent.mkdir(parents=True)
        file.write_text(text)
    found = check([tmp_path])
    assert found.documents == 2
    assert [(problem.source, problem.field) for problem in found.problems] == [
        (str(recipe_at("agrajag", "globex")), field) for field in ("tools", "engine")
    ]
