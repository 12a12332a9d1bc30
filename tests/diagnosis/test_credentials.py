"""Credentials of probes: each where its reference says, and never another tenant's or user's."""

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.targets import CredentialRef, SecretStore
from agrajag.diagnosis.adapter import Secret
from agrajag.diagnosis.credentials import (
    MAX_SECRET_BYTES,
    CredentialStore,
    FileVault,
    read_secret,
    secret_path,
    variable_name,
)

_ENV = CredentialRef(SecretStore.ENVIRONMENT, "SEARCH")
_FILE = CredentialRef(SecretStore.FILE, "search")
_VAULT = CredentialRef(SecretStore.USER_VAULT, "search")


def _put(text: str | bytes, directory: Path, *parts: str) -> None:
    file = secret_path(directory, *parts)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


async def test_a_credential_is_found_in_the_environment_in_a_file_and_in_the_vault_of_its_user(
    tmp_path: Path,
) -> None:
    _put("of-file\n", tmp_path / "files", "acme", "search")
    _put(" of-alice ", tmp_path / "vault", "acme", "alice", "search")
    store = CredentialStore(
        {"PROBE_SECRET_ACME_SEARCH": "of-env\n"}, tmp_path / "files", FileVault(tmp_path / "vault")
    )
    assert _revealed(await store.find(_ENV, "acme", None)) == "of-env"
    assert _revealed(await store.find(_FILE, "acme", None)) == "of-file"
    assert _revealed(await store.find(_VAULT, "acme", "alice")) == "of-alice"


@pytest.mark.parametrize("ref", [_ENV, _FILE, _VAULT])
async def test_what_belongs_to_another_tenant_or_user_is_not_found(
    ref: CredentialRef, tmp_path: Path
) -> None:
    _put("x", tmp_path / "files", "acme", "search")
    _put("x", tmp_path / "vault", "acme", "alice", "search")
    store = CredentialStore(
        {"PROBE_SECRET_ACME_SEARCH": "x"}, tmp_path / "files", FileVault(tmp_path / "vault")
    )
    assert await store.find(ref, "acme", "alice") is not None
    assert await store.find(ref, "globex", "alice") is None
    assert await store.find(ref, "ACME", "alice") is None
    if ref is _VAULT:
        assert await store.find(ref, "acme", "bob") is None
        assert await store.find(ref, "acme", None) is None


@pytest.mark.parametrize("ref", [_ENV, _FILE, _VAULT])
async def test_without_a_place_there_is_no_credential(ref: CredentialRef, tmp_path: Path) -> None:
    assert await CredentialStore().find(ref, "acme", "alice") is None
    nowhere = tmp_path / "nowhere"
    assert await CredentialStore({}, nowhere, FileVault(nowhere)).find(ref, "acme", "alice") is None


async def test_a_changed_credential_counts_at_once(tmp_path: Path) -> None:
    environment = {"PROBE_SECRET_ACME_SEARCH": "old"}
    store = CredentialStore(environment, tmp_path)
    _put("old", tmp_path, "acme", "search")
    assert [_revealed(await store.find(ref, "acme", None)) for ref in (_ENV, _FILE)] == ["old", "old"]
    environment["PROBE_SECRET_ACME_SEARCH"] = "new"
    _put("new", tmp_path, "acme", "search")
    assert [_revealed(await store.find(ref, "acme", None)) for ref in (_ENV, _FILE)] == ["new", "new"]


@pytest.mark.parametrize("content", ["", " \n", b"\xff\xfe", b"x" * (MAX_SECRET_BYTES + 1)])
def test_a_file_without_a_usable_text_holds_no_credential(content: str | bytes, tmp_path: Path) -> None:
    _put(content, tmp_path, "acme", "search")
    assert read_secret(tmp_path, "acme", "search") is None


def test_a_folder_and_a_pipe_hold_no_credential_and_do_not_hold_up_anybody(tmp_path: Path) -> None:
    (tmp_path / "acme" / "folder").mkdir(parents=True)
    os.mkfifo(tmp_path / "acme" / "pipe")
    assert read_secret(tmp_path, "acme", "folder") is None
    assert read_secret(tmp_path, "acme", "pipe") is None


def test_a_link_is_followed_within_the_folder_of_the_tenant_only(tmp_path: Path) -> None:
    _put("own", tmp_path, "acme", "..data", "search")
    _put("other", tmp_path, "globex", "search")
    (tmp_path / "acme" / "search").symlink_to(secret_path(tmp_path, "acme", "..data", "search"))
    (tmp_path / "acme" / "stolen").symlink_to(tmp_path / "globex" / "search")
    (tmp_path / "acme" / "circle").symlink_to(tmp_path / "acme" / "circle")
    assert _revealed(read_secret(tmp_path, "acme", "search")) == "own"
    assert read_secret(tmp_path, "acme", "stolen") is None
    assert read_secret(tmp_path, "acme", "circle") is None


_HOSTILE = st.sampled_from(
    ["..", ".", "/", "\\", "../globex", "/etc/passwd", "a/../b", "%2e%2e", "..%2f", "~", "a ", "a."]
)
_IDS = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=12) | _HOSTILE


@given(_IDS, _IDS, _IDS)
def test_no_id_leads_out_of_the_folder_of_its_tenant_and_user(tenant: str, user: str, name: str) -> None:
    root = Path("/secrets")
    path = Path(os.path.normpath(secret_path(root, tenant, user, name)))
    assert path.parent.parent.parent == root
    assert len(path.relative_to(root).parts) == 3
    assert path == secret_path(root, tenant, user, name)


@given(_IDS, _IDS, _IDS, _IDS)
def test_two_pairs_never_share_a_file(tenant: str, name: str, other_tenant: str, other_name: str) -> None:
    same = (tenant, name) == (other_tenant, other_name)
    root = Path("/secrets")
    assert (secret_path(root, tenant, name) == secret_path(root, other_tenant, other_name)) == same


_TENANTS = st.text(st.sampled_from("abAB_-.%12äß "), min_size=1, max_size=6)
_NAMES = st.from_regex(r"[AB][AB_12]{0,4}", fullmatch=True)


@given(_TENANTS, _NAMES, _TENANTS, _NAMES)
def test_two_pairs_never_share_a_variable(tenant: str, name: str, other_tenant: str, other_name: str) -> None:
    same = (tenant, name) == (other_tenant, other_name)
    assert (variable_name(tenant, name) == variable_name(other_tenant, other_name)) == same


@pytest.mark.parametrize(
    ("tenant", "name", "variable"),
    [
        ("acme", "SEARCH", "PROBE_SECRET_ACME_SEARCH"),
        ("my-org", "SEARCH", "PROBE_SECRET_MY_2dORG_SEARCH"),
        ("Acme", "A_B", "PROBE_SECRET__41CME_A_B"),
        ("acme_a", "B", "PROBE_SECRET_ACME_5fA_B"),
        ("ä", "X", "PROBE_SECRET__c3_a4_X"),
    ],
)
def test_a_variable_is_named_after_tenant_and_name(tenant: str, name: str, variable: str) -> None:
    assert variable_name(tenant, name) == variable


def test_a_secret_is_shown_and_written_nowhere() -> None:
    secret = Secret("hunter2")
    assert (
        "hunter2"
        not in f"{secret} {secret!r} {[secret]} {vars(secret) if hasattr(secret, '__dict__') else ''}"
    )
    with pytest.raises(TypeError):
        pickle.dumps(secret)
