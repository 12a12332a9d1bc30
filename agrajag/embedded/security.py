"""A second listener for the embedded Kafka: over TLS, for users who log in.

The plain listener stays, on loopback, as the broker's own: who may use it may do everything. Certificates are made by
an authority of the directory's own, whose key nobody keeps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from agrajag.embedded.ports import LOOPBACK

LISTENER = "SECURED"
_MECHANISMS = ("SCRAM-SHA-512", "PLAIN")
_LOGIN_MODULES = {
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
}
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Secured:
    """Who may log in, by name and password; and whether clients show a certificate of the directory's authority too."""

    users: Mapping[str, str] = field(repr=False)
    client_certificates: bool = False


@dataclass(frozen=True, slots=True)
class Certificates:
    """The files of one authority: what to trust, the broker's certificate with its key, and a client's."""

    authority: Path
    broker: Path
    client: Path
    client_key: Path

    @classmethod
    def in_directory(cls, directory: Path) -> "Certificates":
        """Those that are there, made where there are none yet. Keys are readable for their owner alone."""
        found = cls(*(directory / name for name in ("ca.pem", "broker.pem", "client.pem", "client.key")))
        if not found.authority.exists():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            found._make()
        return found

    def _make(self) -> None:
        authority = trustme.CA(organization_name="Agrajag on this machine")
        broker = authority.issue_cert(LOOPBACK, "localhost")
        client = authority.issue_cert("client.invalid", common_name="agrajag-client")  # Java wants a name
        _write(self.broker, _as_java_reads_it(broker.private_key_pem.bytes()) + _chain(broker))
        _write(self.client, _chain(client))
        _write(self.client_key, client.private_key_pem.bytes())
        # Last, since it says that all are there.
        _write(self.authority, authority.cert_pem.bytes())


def _as_java_reads_it(key_pem: bytes) -> bytes:
    """The key as PKCS #8, the only form that Kafka knows."""
    key = load_pem_private_key(key_pem, None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _chain(certificate: trustme.LeafCert) -> bytes:
    return b"".join(part.bytes() for part in certificate.cert_chain_pems)


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=_OWNER_ONLY)
    path.write_bytes(content)


def secured_properties(secured: Secured, certificates: Certificates) -> dict[str, str]:
    """What the server is told of the listener, but for the lists of all listeners."""
    prefix = f"listener.name.{LISTENER.lower()}"
    told = {
        "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{LISTENER}:SASL_SSL",
        f"{prefix}.ssl.keystore.type": "PEM",
        f"{prefix}.ssl.keystore.location": str(certificates.broker),
        f"{prefix}.ssl.truststore.type": "PEM",
        f"{prefix}.ssl.truststore.location": str(certificates.authority),
        f"{prefix}.ssl.client.auth": "required" if secured.client_certificates else "none",
        f"{prefix}.sasl.enabled.mechanisms": ",".join(_MECHANISMS),
        "sasl.enabled.mechanisms": ",".join(_MECHANISMS),
    }
    for mechanism, module in _LOGIN_MODULES.items():
        users = "".join(f' user_{name}="{password}"' for name, password in secured.users.items())
        options = users if mechanism == "PLAIN" else ""
        told[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = f"{module} required{options};"
    return told


def format_arguments(secured: Secured) -> list[str]:
    """What a directory is formatted with, so that the users are known from the first start on."""
    return [
        part
        for name, password in secured.users.items()
        for part in ("--add-scram", f"SCRAM-SHA-512=[name={name},password={password}]")
    ]
