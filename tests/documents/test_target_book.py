"""Which declaration of a tool is in force, and that a reload reads only what has changed."""

from agrajag.core.targets import Target, Unprobed
from agrajag.documents.cascade import TOOLS_PATH, Cascade, DocumentName
from agrajag.documents.rulebook import Rulebook
from agrajag.documents.target_book import TargetBook

_TENANT = DocumentName("acme", None, TOOLS_PATH)
_PROJECT = DocumentName("acme", "essays", TOOLS_PATH)


def _text(path: str) -> str:
    return f'tools: {{search: {{safety: SAFE_PROBE, http: {{url: "https://example.com/{path}"}}}}}}'


def _source(book: TargetBook, project_id: str | None) -> str | None:
    found = book.find("acme", project_id, "search")
    return found.source if isinstance(found, Target) else found


def test_the_projects_declaration_stands_before_the_tenants() -> None:
    book = TargetBook(Cascade({_TENANT: _text("wide"), _PROJECT: _text("narrow")}))
    assert [_source(book, project) for project in ("essays", "another", None)] == [
        "acme/essays/_vance/tools.yaml",
        "acme/_tenant/_vance/tools.yaml",
        "acme/_tenant/_vance/tools.yaml",
    ]
    assert book.find("acme", "essays", "unheard-of") is None
    assert book.find("globex", "essays", "search") is None


def test_a_broken_narrow_declaration_is_never_replaced() -> None:
    for text in ("tools: {search: 7}", "tools: [", "- x"):
        book = TargetBook(Cascade({_TENANT: _text("wide"), _PROJECT: text}))
        assert book.find("acme", "essays", "search") is Unprobed.BROKEN
        assert isinstance(book.find("acme", None, "search"), Target)
        assert [problem.source for problem in book.problems] == ["acme/essays/_vance/tools.yaml"]


def test_a_reload_reads_only_what_has_changed() -> None:
    first = Rulebook(Cascade({_TENANT: _text("wide"), _PROJECT: _text("narrow")}))
    second = Rulebook(Cascade({_TENANT: _text("wide"), _PROJECT: _text("other")}), before=first)
    kept, changed = (
        [book.targets.find("acme", project, "search") for book in (first, second)]
        for project in (None, "essays")
    )
    assert kept[0] is kept[1]
    assert changed[0] != changed[1]


def test_what_is_wrong_with_declarations_is_told_with_the_rest() -> None:
    (problem,) = Rulebook(Cascade({_TENANT: "tools: {search: {safety: yes}}"})).problems
    assert str(problem).startswith("acme/_tenant/_vance/tools.yaml: tools.search.safety: ")
