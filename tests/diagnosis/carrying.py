"""What adapters are called with in tests that are not about addresses."""

import httpx2

from agrajag.core.targets import Target
from agrajag.diagnosis.probe import ProbeRequest
from agrajag.model.enums import ProbeIdentity

REQUEST = ProbeRequest("probe-1", "sirius", "guide", "search", ProbeIdentity.USER, "zaphod")


def plain_carrier(_target: Target) -> httpx2.AsyncBaseTransport:
    """A transport that connects wherever it is asked to."""
    return httpx2.AsyncHTTPTransport(trust_env=False)
