"""What adapters are called with in tests that are about something else."""

from agrajag.diagnosis.addresses import AddressRules
from agrajag.diagnosis.network import Network
from agrajag.diagnosis.probe import ProbeRequest
from agrajag.model.enums import ProbeIdentity

LOOPBACK = Network(AddressRules(private_addresses=True))
REQUEST = ProbeRequest("probe-1", "sirius", "guide", "search", ProbeIdentity.USER, "zaphod")
