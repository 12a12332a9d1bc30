"""Which document speaks: the narrowest, over those of the tenant and the package."""

from hypothesis import given
from hypothesis import strategies as st

from agrajag.documents.cascade import (
    RULES_PATH,
    SETTINGS_PATH,
    Cascade,
    DocumentName,
    LayerText,
    bundled_documents,
)
from tests.documents.texts import rules_at

_TENANTS = st.sampled_from(["acme", "globex", "a|b"])
_PROJECTS = st.none() | st.sampled_from(["essays", "_tenant", "-"])
_PATHS = st.sampled_from([RULES_PATH, "_vance/recipes/x.yaml"])
_DOCUMENTS = st.dictionaries(st.builds(DocumentName, _TENANTS, _PROJECTS, _PATHS), st.text(max_size=5))


def test_the_bundled_documents_are_there_by_their_path() -> None:
    assert set(bundled_documents()) >= {RULES_PATH, SETTINGS_PATH}
    assert bundled_documents()[RULES_PATH].lstrip().startswith("#")


def test_project_comes_before_tenant_and_tenant_before_bundled() -> None:
    everything = {rules_at("acme"): "tenant", rules_at("acme", "essays"): "project"}
    cascade = Cascade(everything)
    assert cascade.find("acme", "essays", RULES_PATH) == LayerText(f"acme/essays/{RULES_PATH}", "project")
    assert cascade.find("acme", "novels", RULES_PATH) == LayerText(f"acme/_tenant/{RULES_PATH}", "tenant")
    assert cascade.find("acme", None, RULES_PATH) == LayerText(f"acme/_tenant/{RULES_PATH}", "tenant")
    assert cascade.find("globex", "essays", RULES_PATH) == LayerText(
        f"agrajag/defaults/{RULES_PATH}", bundled_documents()[RULES_PATH]
    )
    assert cascade.find("acme", "essays", "_vance/nothing.yaml") is None


@given(_DOCUMENTS, _TENANTS, _PROJECTS, _PATHS)
def test_layers_are_what_speaks_widest_first_and_what_is_found_is_the_last(
    documents: dict[DocumentName, str], tenant: str, project: str | None, path: str
) -> None:
    cascade = Cascade(documents)
    layers = cascade.layers(tenant, project, path)
    names = [DocumentName(tenant, None, path), DocumentName(tenant, project, path)]
    speaking = [documents[name] for name in dict.fromkeys(names) if name in documents]
    bundled = [bundled_documents()[path]] if path in bundled_documents() else []
    assert [layer.content for layer in layers] == bundled + speaking
    assert cascade.find(tenant, project, path) == (layers[-1] if layers else None)


@given(_DOCUMENTS)
def test_the_owners_are_those_who_have_a_document_at_one_of_the_paths(
    documents: dict[DocumentName, str],
) -> None:
    owners = Cascade(documents).owners([RULES_PATH])
    assert owners == {(name.tenant_id, name.project_id) for name in documents if name.path == RULES_PATH}


def test_a_snapshot_does_not_change_with_the_mapping_that_it_was_made_from() -> None:
    documents = {rules_at("acme"): "tenant"}
    cascade = Cascade(documents)
    documents.clear()
    assert list(cascade.documents.values()) == ["tenant"]
