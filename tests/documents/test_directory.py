"""Documents as files: what is read, under which name, and what is refused and named."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.documents.cascade import RULES_PATH, DocumentName
from agrajag.documents.directory import directory_state, file_of, folder_name, read_directory
from agrajag.errors import ConfigError
from agrajag.model.answers import MAX_CONTENT
from agrajag.model.keys import document_key
from tests.documents.texts import rules_at


def put(root: Path, name: DocumentName, content: str | bytes = "patterns: []\n") -> Path:
    """Write a document where it belongs."""
    file = file_of(root, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def _faults(root: Path) -> list[tuple[str, str]]:
    return [(problem.source, problem.field) for problem in read_directory(root).problems]


def test_a_tenants_and_a_projects_documents_are_read_under_their_names(tmp_path: Path) -> None:
    recipe = DocumentName("acme", "essays", "_vance/recipes/agrajag.yml")
    put(tmp_path, rules_at("acme"), "patterns: [] # é\n")
    put(tmp_path, rules_at("acme", "essays"), b"\xef\xbb\xbfa: 1")
    put(tmp_path, recipe, "b: 2")
    assert (tmp_path / "acme" / "_tenant" / RULES_PATH).is_file()
    reading = read_directory(tmp_path)
    assert reading.problems == []
    assert reading.tenants == {"acme"}
    assert reading.documents == {
        rules_at("acme"): "patterns: [] # é\n",
        rules_at("acme", "essays"): "a: 1",
        recipe: "b: 2",
    }


_PARTS = st.sampled_from(
    ["a/b", ".hidden", "..", ".", "_tenant", "%2F", "a%", "c:\\d", "-", "é", "a|b", "end.", "x "]
)
_IDS = _PARTS | st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=20)


@given(_IDS, st.none() | _IDS)
def test_every_tenant_and_project_has_a_folder_of_its_own_below_the_directory(
    tenant: str, project: str | None
) -> None:
    root = Path("/root-of-documents")
    file = file_of(root, DocumentName(tenant, project, RULES_PATH))
    assert len(file.relative_to(root).parts) == 2 + RULES_PATH.count("/") + 1
    assert ".." not in file.parts
    assert not any(part.startswith(".") for part in file.relative_to(root).parts)
    assert (file.relative_to(root).parts[1] == "_tenant") is (project is None)


@pytest.mark.parametrize("part", ["a/b", ".hidden", "..", "_tenant", "%2F", "c:\\d", "-", "é", "a|b", "end."])
def test_a_name_that_no_folder_can_have_is_found_again(tmp_path: Path, part: str) -> None:
    name = DocumentName(part, part, RULES_PATH)
    put(tmp_path, name)
    reading = read_directory(tmp_path)
    assert (list(reading.documents), reading.problems) == ([name], [])
    assert name.key == document_key(part, part, RULES_PATH)


def test_what_is_no_yaml_or_begins_with_a_dot_is_not_looked_at(tmp_path: Path) -> None:
    put(tmp_path, rules_at("acme"))
    (tmp_path / "README.md").write_text("about these rules")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.yaml").write_text("x")
    (tmp_path / "acme" / "_tenant" / "notes.txt").write_text("x")
    reading = read_directory(tmp_path)
    assert (list(reading.documents), reading.problems) == ([rules_at("acme")], [])


def test_a_yaml_file_where_no_document_stands_is_named(tmp_path: Path) -> None:
    (tmp_path / "acme" / "_tenant").mkdir(parents=True)
    for place in ("rules.yaml", "acme/rules.yaml", "acme/_tenant/rules.yaml", "acme/_tenant/_vance.yaml"):
        (tmp_path / place).write_text("patterns: []")
    assert _faults(tmp_path) == [
        ("acme/_tenant/_vance.yaml", "path"),
        ("acme/_tenant/rules.yaml", "path"),
        ("acme/rules.yaml", "path"),
        ("rules.yaml", "path"),
    ]


def test_links_are_followed_inside_the_directory_and_refused_out_of_it(tmp_path: Path) -> None:
    root, outside = tmp_path / "rules", tmp_path / "secrets.yaml"
    outside.write_text("password: x")
    kept = put(root, rules_at("acme"), "patterns: []")
    for tenant, target in (("inside", kept), ("outside", outside), ("nowhere", tmp_path / "missing.yaml")):
        link = file_of(root, rules_at(tenant))
        link.parent.mkdir(parents=True)
        link.symlink_to(target)
    (root / "away").symlink_to(tmp_path, target_is_directory=True)
    (root / "round").symlink_to(root, target_is_directory=True)
    reading = read_directory(root)
    assert set(reading.documents) == {rules_at("acme"), rules_at("inside")}
    assert "password: x" not in reading.documents.values()
    refused = {problem.source: problem.reason for problem in reading.problems}
    assert refused["away"] == "is a link out of the directory or in a circle, and is not followed"
    assert (
        refused[f"outside/_tenant/{RULES_PATH}"]
        == "is a link out of the directory or in a circle, and is not followed"
    )
    assert "round" in refused
    assert f"nowhere/_tenant/{RULES_PATH}" in refused


def test_a_file_that_is_too_long_or_no_text_is_refused_and_known_to_be_there(tmp_path: Path) -> None:
    put(tmp_path, rules_at("long"), "#" * (MAX_CONTENT + 1))
    put(tmp_path, rules_at("huge"), b"#" * 10_000_000)
    put(tmp_path, rules_at("binary"), b"\xff\xfe")
    put(tmp_path, rules_at("longest"), "#" * MAX_CONTENT)
    reading = read_directory(tmp_path)
    assert set(reading.documents) == {rules_at("longest")}
    assert reading.refused == {rules_at("long"), rules_at("huge"), rules_at("binary")}
    assert reading.tenants == {"long", "huge", "binary", "longest"}
    reasons = {problem.source.partition("/")[0]: problem.reason for problem in reading.problems}
    assert reasons == {
        "binary": "is no UTF-8",
        "huge": "is longer than the 2,000,000 characters that are read",
        "long": "has 2,000,001 characters; at most 2,000,000 are read",
    }


def test_two_folders_for_one_name_are_refused_but_for_the_first(tmp_path: Path) -> None:
    for folder, content in (("a%2Eb", "first"), ("a.b", "second")):
        file = tmp_path / folder / "_tenant" / RULES_PATH
        file.parent.mkdir(parents=True)
        file.write_text(content)
    reading = read_directory(tmp_path)
    assert reading.documents == {rules_at("a.b"): "first"}
    assert [problem.field for problem in reading.problems] == ["path"]


def test_names_that_cannot_be_ids_and_files_that_are_none_are_refused_and_shown_harmless(
    tmp_path: Path,
) -> None:
    for folder in (b"bad\x1bname", b"not-utf8-\xff", b"%ff"):
        file = os.fsencode(tmp_path) + b"/" + folder + b"/_tenant/" + RULES_PATH.encode()
        os.makedirs(os.path.dirname(file))
        Path(os.fsdecode(file)).write_text("patterns: []")
    pipe = file_of(tmp_path, rules_at("acme"))
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    put(tmp_path, DocumentName("acme", None, "_vance/" + "/".join("d" * 200 for _ in range(3)) + ".yaml"))
    reading = read_directory(tmp_path)
    assert reading.documents == {}
    assert len(reading.problems) == 5
    assert all(problem.source.isprintable() for problem in reading.problems)


def test_folders_without_end_are_left_alone(tmp_path: Path) -> None:
    deep = tmp_path / "acme" / "_tenant" / "_vance" / "/".join("d" * 20)
    deep.mkdir(parents=True)
    (deep / "x.yaml").write_text("a: 1")
    assert [field for _, field in _faults(tmp_path)] == ["file"]


@pytest.mark.parametrize("made", [False, True])
def test_what_is_no_directory_stops_the_start(tmp_path: Path, made: bool) -> None:
    if made:
        (tmp_path / "rules").write_text("x")
    with pytest.raises(ConfigError, match="is no directory that can be read"):
        read_directory(tmp_path / "rules")


def test_the_state_of_a_directory_changes_with_every_document(tmp_path: Path) -> None:
    file = put(tmp_path, rules_at("acme"), "a: 1")
    first = directory_state(tmp_path)
    assert directory_state(tmp_path) == first
    file.write_text("a: 22")
    second = directory_state(tmp_path)
    assert second != first
    other = put(tmp_path, rules_at("globex"))
    third = directory_state(tmp_path)
    assert third != second
    other.unlink()
    assert directory_state(tmp_path) == second


def test_a_folder_is_called_after_an_ordinary_name() -> None:
    assert [folder_name(part) for part in ("acme", "essay-pipeline", "Zürich 2")] == [
        "acme",
        "essay-pipeline",
        "Zürich 2",
    ]
