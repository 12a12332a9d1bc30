"""The origins of records, with the key that seals them."""

from agrajag.settings import Settings
from agrajag.wire.origin import Origins


def origins_of(settings: Settings) -> Origins:
    """Reads and writes the origins of records as all roles with these settings do."""
    seal = settings.worker.origin_key
    key = seal.get_secret_value().encode() if seal is not None else None
    return Origins(settings.topics.topics().partitions, key)
