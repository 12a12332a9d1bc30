"""Masks the credentials in addresses, for everything that is shown or logged, and tells loopback from the rest."""

import re
from ipaddress import ip_address

# A password may hold quotes and angle brackets, so these end nothing here: rather too much is masked than too little.
_USER_PART = re.compile(r"(?<=://)[^\s/@]*(?:@[^\s/@]*)*@")
_SECRET_OPTION = re.compile(
    r"((?:(?:password|passwd|secret|token|api_?key)\s*=|AWS_SESSION_TOKEN\s*:)\s*)[^\s&;,]+", re.IGNORECASE
)


def without_credentials(text: str) -> str:
    """`text` with the user part of every address masked, and options that are named like secrets.

    `mongodb://user:pw@host/?tlsCertificateKeyFilePassword=x` becomes
    `mongodb://***@host/?tlsCertificateKeyFilePassword=***`. The session token among `authMechanismProperties` counts
    as such an option.
    """
    if "://" in text:
        text = _USER_PART.sub("***@", text)
    return _SECRET_OPTION.sub(r"\1***", text) if "=" in text or ":" in text else text


def is_loopback(host: str) -> bool:
    """Whether nobody on another machine can reach a server that listens on this IP address. Raises ValueError."""
    return ip_address(host).is_loopback
