"""Finds the credentials of probes by their reference, each time anew, so that a changed one counts at once.

A reference belongs to the tenant whose document holds it, and every place a credential is kept in is named after that
tenant: no document can name what is another tenant's. Tenants, users and names may be called anything; in a variable
or a path whatever has a meaning of its own there is written otherwise.
"""

import asyncio
import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import structlog

from agrajag.core.targets import CredentialForm, CredentialRef, SecretStore, SentAs
from agrajag.diagnosis.adapter import Secret
from agrajag.documents.directory import folder_name

log = structlog.get_logger(__name__)

MAX_SECRET_BYTES = 16_384
_VARIABLE_PREFIX = "PROBE_SECRET_"
_NOT_IN_A_VARIABLE = re.compile(r"[^a-z0-9]")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class UserVault(Protocol):
    """Keeps the credentials of users."""

    async def find(self, tenant_id: str, user_id: str, name: str) -> Secret | None:
        """The user's own credential of that name; None where there is none, or it cannot be had."""


class FileVault:
    """Credentials of users in files: `<directory>/<tenant>/<user>/<name>`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def find(self, tenant_id: str, user_id: str, name: str) -> Secret | None:
        """The user's own credential of that name."""
        return await asyncio.to_thread(read_secret, self._directory, tenant_id, user_id, name)


class CredentialStore:
    """Where credentials are looked up. `environment` is that of the process; None: there is no such place."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
        vault: UserVault | None = None,
    ) -> None:
        self._environment = environment or {}
        self._directory = directory
        self._vault = vault

    async def find(self, ref: CredentialRef, tenant_id: str, user_id: str | None) -> Secret | None:
        """The credential that a document of the tenant refers to; None where it is not there."""
        if ref.store is SecretStore.ENVIRONMENT:
            text = self._environment.get(variable_name(tenant_id, ref.name), "").strip()
            return Secret(text) if text else None
        if ref.store is SecretStore.FILE:
            if self._directory is None:
                return None
            return await asyncio.to_thread(read_secret, self._directory, tenant_id, ref.name)
        if self._vault is None or user_id is None:
            return None
        return await self._vault.find(tenant_id, user_id, ref.name)


def variable_name(tenant_id: str, name: str) -> str:
    """`PROBE_SECRET_<TENANT>_<NAME>`: no two pairs share one.

    A tenant's small letters are written as capitals, and what is neither small letter nor digit byte by byte as `_` and
    two hexadecimal digits: `my-org` is `MY_2dORG`. A name begins with a capital, so that it is clear where it begins.
    """
    tenant = _NOT_IN_A_VARIABLE.sub(
        lambda found: "".join(f"_{byte:02x}" for byte in found[0].encode()), tenant_id
    )
    shown = re.sub(
        r"_[0-9a-f]{2}|[a-z]", lambda found: found[0] if len(found[0]) > 1 else found[0].upper(), tenant
    )
    return f"{_VARIABLE_PREFIX}{shown}_{name}"


def secret_path(directory: Path, *parts: str) -> Path:
    """Where a credential stands: each part is one folder or file, whatever it is called."""
    return directory.joinpath(*map(folder_name, parts))


def read_secret(directory: Path, *parts: str) -> Secret | None:
    """What stands in the file of a credential, without the blank space around it.

    None where there is nothing that can be read; a link that leads out of the folder of the tenant is not followed.
    """
    file = secret_path(directory, *parts)
    try:
        real = file.resolve(strict=True)
        if (
            not real.is_relative_to(secret_path(directory, parts[0]).resolve(strict=True))
            or not real.is_file()
        ):
            return None
        with real.open("rb") as opened:
            raw = opened.read(MAX_SECRET_BYTES + 1)
        text = raw.decode().strip() if len(raw) <= MAX_SECRET_BYTES else ""
    except (OSError, ValueError, RuntimeError):
        return None
    return Secret(text) if text else None


def header_of(sent_as: SentAs, secret: Secret) -> tuple[str, str] | None:
    """The header that carries a credential; None where it cannot be sent as one. For BASIC it is `user:password`."""
    text = secret.reveal()
    if sent_as.form is CredentialForm.BASIC:
        return ("Authorization", f"Basic {base64.b64encode(text.encode()).decode()}") if ":" in text else None
    if _HEADER_VALUE.fullmatch(text) is None:
        return None
    if sent_as.form is CredentialForm.BEARER:
        return "Authorization", f"Bearer {text}"
    if sent_as.form is CredentialForm.HEADER and sent_as.name is not None:
        return sent_as.name, text
    return None
